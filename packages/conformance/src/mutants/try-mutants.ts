import type { JsonObject } from '@weft/protocol';
import { CHECKS } from '../checks/index.ts';
import type { SuiteOptions } from '../suite/run-suite.ts';
import { runSuite } from '../suite/run-suite.ts';
import type { Mutant } from './mutant.ts';
import { startProxy } from './proxy.ts';

export interface MutantResult {
  readonly mutant: Mutant;
  readonly isCaught: boolean;
  /** What the checks said, or why the mutant counts as not caught. */
  readonly said: readonly string[];
}

export type MutantTrial = Omit<SuiteOptions, 'checks' | 'onStart' | 'onResult'>;

/** Lets the checks meant for a mutant look at a host with its defect. */
export async function tryMutant(mutant: Mutant, trial: MutantTrial): Promise<MutantResult> {
  const checks = CHECKS.filter(({ id }) => mutant.caughtBy.includes(id));
  const missing = mutant.caughtBy.filter((id) => !checks.some((check) => check.id === id));
  if (missing.length > 0) return { mutant, isCaught: false, said: [`no such check: ${missing.join(', ')}`] };
  const proxy = await startProxy(trial.url, mutant);
  try {
    const discovery = await discoveryThrough(proxy.url, trial.discovery);
    const { results } = await runSuite({ ...trial, url: proxy.url, discovery, checks });
    const said = results.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason ?? 'nothing'}`);
    const first = results.find(({ id }) => id === mutant.caughtBy[0]);
    const isCaught =
      results.every(({ outcome }) => outcome === 'failed') && mutant.says.test(first?.reason ?? '');
    return { mutant, isCaught, said };
  } finally {
    await proxy.stop();
  }
}

/** A mutant may have changed discovery itself; where it is no longer readable, the checks see it for themselves. */
async function discoveryThrough(url: string, otherwise: JsonObject): Promise<JsonObject> {
  try {
    const answer = await fetch(`${url}/.well-known/openwop`);
    return (await answer.json()) as JsonObject;
  } catch {
    return otherwise;
  }
}

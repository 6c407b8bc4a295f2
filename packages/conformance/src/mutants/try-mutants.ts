import type { JsonObject } from '@weft/protocol';
import { CHECKS } from '../areas/checks.ts';
import type { Check } from '../suite/check.ts';
import type { CheckResult } from '../suite/outcome.ts';
import { runSuite, type SuiteOptions } from '../suite/run-suite.ts';
import type { Mutant } from './mutant.ts';
import { startProxy } from './proxy.ts';

export interface MutantResult {
  readonly mutant: Mutant;
  /** Every check that is meant for it failed, and the first for the right reason. */
  readonly isCaught: boolean;
  /** All checks that failed. */
  readonly noticed: readonly string[];
  /** What the checks meant for it said. */
  readonly said: readonly string[];
}

export type MutantTrial = Omit<SuiteOptions, 'checks' | 'onStart' | 'onResult'>;

/** Lets checks look at a host with one defect: those meant for it, or the ones given. */
export async function tryMutant(
  mutant: Mutant,
  trial: MutantTrial,
  checks: readonly Check[] = CHECKS.filter(({ id }) => mutant.caughtBy.includes(id)),
): Promise<MutantResult> {
  const proxy = await startProxy(trial.url, mutant);
  try {
    const discovery = await discoveryThrough(proxy.url, trial.discovery);
    const { results } = await runSuite({ ...trial, url: proxy.url, discovery, checks });
    return resultOf(mutant, results);
  } finally {
    await proxy.stop();
  }
}

function resultOf(mutant: Mutant, results: readonly CheckResult[]): MutantResult {
  const meant = mutant.caughtBy.map((id) => results.find((result) => result.id === id));
  return {
    mutant,
    isCaught:
      meant.every((result) => result?.outcome === 'failed') && mutant.says.test(meant[0]?.reason ?? ''),
    noticed: results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
    said: meant.map((result, at) =>
      result === undefined
        ? `${mutant.caughtBy[at] ?? ''} was not run`
        : `${result.id} ${result.outcome}: ${result.reason ?? 'nothing'}`,
    ),
  };
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

import { setTimeout as pause } from 'node:timers/promises';
import { createAttacker } from '../../hostile/attacker.ts';
import { CORPUS } from '../../hostile/corpus.ts';
import { CRASHING_WORKFLOW, crashingWorkflow } from '../faults/crashing-workflow.ts';
import type { HttpClient } from './http.ts';
import type { Random } from '../random.ts';
import { countIn, type Receipts } from './receipts.ts';

/** A tenant that attacks: everything of the hostile corpus but floods, and at intervals a run that crashes processes. */
export interface HostileTenantOptions {
  readonly http: HttpClient;
  readonly port: () => number;
  readonly key: string;
  readonly random: Random;
  readonly receipts: Receipts;
  readonly serviceUrl: string;
  readonly signal: AbortSignal;
}

const KINDS = new Set(['expression', 'pattern', 'schema', 'text', 'graph', 'body']);
/** A crashing run ends five processes, one after the other. */
const CRASH_EVERY_MS = 60_000;
const FIRST_CRASH_MS = 5_000;
const PAUSE_MS = 200;

export async function runHostileTenant(options: HostileTenantOptions): Promise<void> {
  await Promise.all([attack(options), kill(options)]);
}

async function attack({
  port,
  key,
  random,
  receipts,
  serviceUrl,
  signal,
}: HostileTenantOptions): Promise<void> {
  const cases = CORPUS.filter(({ kind }) => KINDS.has(kind));
  for (let count = 0; !signal.aborted; count += 1) {
    const attacker = createAttacker({ port: port(), key, serviceUrl, prefix: `hostile-${count}` });
    const { kind, attack: action } = random.pick(cases);
    await action(attacker).catch(() => undefined);
    countIn(receipts.actions, `hostile ${kind}`);
    await pause(PAUSE_MS);
  }
}

async function kill({ http, receipts, signal }: HostileTenantOptions): Promise<void> {
  await http.askUntilAnswered('POST', '/v1/host/weft/workflows', { body: crashingWorkflow() });
  await pause(FIRST_CRASH_MS, undefined, { signal }).catch(() => undefined);
  for (let count = 0; !signal.aborted; count += 1) {
    const answer = await http.askUntilAnswered('POST', '/v1/runs', {
      body: { workflowId: CRASHING_WORKFLOW },
      key: `crashing-${count}`,
    });
    if (answer?.status === 201) receipts.crashing.push(String(answer.json['runId']));
    await pause(CRASH_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

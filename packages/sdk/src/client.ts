import type { Capabilities } from '@weft/protocol';
import { type Interrupts, createInterrupts } from './interrupts.ts';
import { type Keys, createKeys } from './keys.ts';
import { type Runs, createRuns } from './runs.ts';
import { type TransportOptions, createTransport } from './transport.ts';
import { type Workflows, createWorkflows } from './workflows.ts';

export interface Client {
  readonly runs: Runs;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly keys: Keys;
  /** What the host says it can do. Needs no key. */
  discovery(): Promise<Capabilities>;
}

/** Nouns, then verbs. Every failure is an ApiError (the host said no) or a ConnectionError (nobody answered). */
export function createClient(options: TransportOptions): Client {
  const transport = createTransport(options);
  return {
    runs: createRuns(transport),
    interrupts: createInterrupts(transport),
    workflows: createWorkflows(transport),
    keys: createKeys(transport),
    discovery: () => transport.json('GET', '/.well-known/openwop'),
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { ACTIONS, type Action, type ActionContext } from './operator-actions.ts';

/** An operator that picks a run of any client and forks, exports, removes or erases it. */
export interface OperatorOptions extends Omit<ActionContext, 'runId' | 'others' | 'key'> {
  readonly name: string;
  readonly signal: AbortSignal;
}

/** How many of the newest runs an operator chooses from. */
const NEWEST = 30;
const LOOK_EVERY_MS = 100;

export async function runOperator(options: OperatorOptions): Promise<void> {
  const { name, receipts, random, signal } = options;
  // A shuffled deck, so that a short run already has every action.
  let deck: Action[] = [];
  for (let count = 0; !signal.aborted; count += 1) {
    if (deck.length === 0) deck = random.shuffle(ACTIONS);
    const action = deck.pop();
    const [back, waitMs] = [random.int(0, NEWEST), random.int(20, 250)];
    const known = [...receipts.created, ...receipts.forks];
    const run = known.at(-1 - Math.min(back, known.length - 1));
    if (action === undefined || run === undefined) {
      await pause(LOOK_EVERY_MS);
      continue;
    }
    const others = known.slice(-NEWEST).map(({ runId }) => runId);
    const context = { ...options, runId: run.runId, others, key: `${name}-${count}` };
    await action({ ...context, random: random.fork(`action ${count}`) });
    await pause(waitMs);
  }
}

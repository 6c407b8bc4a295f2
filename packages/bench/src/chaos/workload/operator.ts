import { setTimeout as pause } from 'node:timers/promises';
import { ACTS, type Act, type Visit } from './operator-actions.ts';

/** Somebody who comes by other people's runs and does something with one of them: forks it, carries it away, removes it. */
export interface VisitorOptions extends Omit<Visit, 'runId' | 'others' | 'key'> {
  readonly name: string;
  readonly signal: AbortSignal;
}

/** How far back a visitor looks. */
const NEWEST = 30;
const LOOK_EVERY_MS = 100;

export async function runVisitor(options: VisitorOptions): Promise<void> {
  const { name, receipts, random, signal } = options;
  // Dealt like cards, so that a short run already has every act.
  let deck: Act[] = [];
  for (let count = 0; !signal.aborted; count += 1) {
    if (deck.length === 0) deck = random.shuffle(ACTS);
    const act = deck.pop();
    const [back, waitMs] = [random.int(0, NEWEST), random.int(20, 250)];
    const known = [...receipts.created, ...receipts.forks];
    const run = known.at(-1 - Math.min(back, known.length - 1));
    if (act === undefined || run === undefined) {
      await pause(LOOK_EVERY_MS);
      continue;
    }
    const others = known.slice(-NEWEST).map(({ runId }) => runId);
    const visit = { ...options, runId: run.runId, others, key: `${name}-${count}` };
    await act({ ...visit, random: random.fork(`visit ${count}`) });
    await pause(waitMs);
  }
}

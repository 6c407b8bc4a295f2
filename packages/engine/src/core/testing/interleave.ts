import fc from 'fast-check';
import type { Simulation } from './simulation.ts';

/** One choice of the world: which of the possible things happens next, and how. */
export interface Choice {
  readonly pick: number;
  readonly outcome: 'ok' | 'yes' | 'retryable' | 'fatal';
}

export function arbitraryChoices(): fc.Arbitrary<Choice[]> {
  return fc.array(
    fc.record({
      pick: fc.nat(1000),
      outcome: fc.constantFrom('ok', 'ok', 'yes', 'retryable', 'fatal'),
    }),
    { maxLength: 60 },
  );
}

/**
 * Plays the world against a started run: effects end in any order, time passes, people cancel, pause and resume, the host
 * crashes. When the choices are used up, everything left ends well, so every run comes to its end.
 */
export function interleave(run: Simulation, choices: readonly Choice[], seen?: Set<string>): void {
  run.start();
  for (const choice of choices) {
    if (run.run.state.endedAt !== undefined) return;
    happen(run, choice, seen);
  }
  for (let guard = 0; guard < 2000 && run.run.state.endedAt === undefined; guard += 1) finish(run);
}

function happen(run: Simulation, { pick, outcome }: Choice, seen: Set<string> | undefined): void {
  const note = (what: string): void => void seen?.add(what);
  if (pick < 25) {
    note('cancel');
    run.command({ type: 'cancel', reason: 'chosen' });
  } else if (pick < 100) {
    note('pause');
    run.command({ type: 'pause', policy: pick % 2 === 0 ? 'immediate' : 'drain-current-node' });
  } else if (pick < 220) {
    run.command({ type: 'resume' });
  } else if (pick < 320) {
    note('crash');
    run.crash();
  } else if (pick < 420) {
    note('answer');
    vote(run, pick, outcome === 'fatal' ? 'reject' : 'accept');
  } else if (pick < 550) {
    run.passTime();
  } else {
    const keys = [...run.open.keys()];
    const key = keys[pick % Math.max(keys.length, 1)];
    if (key === undefined) return;
    note(`outcome ${outcome}`);
    if (outcome === 'ok') run.succeed(key);
    else if (outcome === 'yes') run.succeed(key, { output: 'yes' });
    else run.fail(key, { retryable: outcome === 'retryable' });
  }
}

/** Somebody answers one of the open questions. */
function vote(run: Simulation, pick: number, action: string, voter = `voter-${pick % 3}`): void {
  const { suspended, nodes } = run.run.state;
  const node = nodes.get(suspended[pick % Math.max(suspended.length, 1)] ?? '');
  if (node !== undefined) run.answer(node.nodeId, { action, voter }, { iteration: node.iteration });
}

function finish(run: Simulation): void {
  if (run.run.state.status === 'paused' || run.run.draining) {
    run.command({ type: 'pause', policy: 'immediate' });
    run.command({ type: 'resume' });
    return;
  }
  const key = [...run.open.keys()].sort()[0];
  if (key !== undefined) run.succeed(key);
  else if (run.run.state.suspended.length > 0) finishQuestion(run);
  else if (!run.passTime()) run.settle({ type: 'tick' });
}

function finishQuestion(run: Simulation): void {
  vote(run, 0, 'accept', 'first');
  vote(run, 0, 'accept', 'second');
}

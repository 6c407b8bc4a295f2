import type { Json } from '@weft/protocol';
import fc from 'fast-check';
import { effectOwner, type InterruptState } from '../../model/run-state.ts';
import { childWorld, type ChildWorld } from './child-world.ts';
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
 * Plays the world against a started run: effects end in any order and stream, time passes, people cancel, pause, resume and
 * answer, children speak, the host crashes. When the choices are used up, everything left ends well, so every run comes to its end.
 */
export function interleave(run: Simulation, choices: readonly Choice[], seen?: Set<string>): ChildWorld {
  const children = play(run, choices, seen);
  for (let guard = 0; guard < 2000 && run.run.state.endedAt === undefined; guard += 1) finish(run, children);
  return children;
}

/** The choices alone: the run may still be running afterwards. */
export function play(run: Simulation, choices: readonly Choice[], seen?: Set<string>): ChildWorld {
  const note = (what: string): void => void seen?.add(what);
  const children = childWorld(run, note);
  run.start();
  for (const choice of choices) {
    if (run.run.state.endedAt !== undefined) break;
    happen(run, children, choice, note);
  }
  return children;
}

function happen(run: Simulation, children: ChildWorld, choice: Choice, note: (what: string) => void): void {
  const { pick, outcome } = choice;
  if (pick < 25) {
    note('cancel');
    run.command({ type: 'cancel', reason: 'chosen' });
  } else if (pick < 100) {
    note('pause');
    run.command({ type: 'pause', policy: pick % 2 === 0 ? 'immediate' : 'drain-current-node' });
  } else if (pick < 220) {
    run.command({ type: 'resume' });
  } else if (pick < 300) {
    note('crash');
    run.crash();
  } else if (pick < 400) {
    answerSome(run, pick, outcome === 'fatal' ? 'reject' : 'accept', note);
  } else if (pick < 500) {
    run.passTime();
  } else if (pick < 620) {
    children.speak(choice);
  } else if (pick < 660) {
    children.create(choice);
  } else if (pick < 690) {
    children.repeat(choice);
  } else if (pick < 750) {
    stream(run, pick, note);
  } else endEffect(run, choice, note);
}

function endEffect(run: Simulation, { pick, outcome }: Choice, note: (what: string) => void): void {
  const key = someOpen(run, pick);
  if (key === undefined) return;
  note(`outcome ${outcome}`);
  if (outcome === 'ok') run.succeed(key);
  else if (outcome === 'yes') run.succeed(key, { output: 'yes' });
  else run.fail(key, { retryable: outcome === 'retryable' });
}

/** Streams from the first piece, as an effect does that is performed again; each piece names its attempt and its place. */
function stream(run: Simulation, pick: number, note: (what: string) => void): void {
  const key = someOpen(run, pick);
  if (key === undefined) return;
  note('stream');
  const visit = run.run.state.visits.get(effectOwner(key).key) ?? 0;
  const attempt = run.open.get(key)?.attempt ?? 0;
  const count = 1 + (pick % 4);
  run.stream(
    key,
    Array.from({ length: count }, (_, index) => `${key}#${visit}.${attempt}:${index}`),
  );
}

function someOpen(run: Simulation, pick: number): string | undefined {
  const keys = [...run.open.keys()];
  return keys[pick % Math.max(keys.length, 1)];
}

/** Someone answers one of the open questions. */
function answerSome(run: Simulation, pick: number, action: string, note: (what: string) => void): void {
  const { suspended } = run.run.state;
  answer(run, suspended[pick % Math.max(suspended.length, 1)], action, `voter-${pick % 3}`, note);
}

function answer(
  run: Simulation,
  key: string | undefined,
  action: string,
  voter: string,
  note?: (what: string) => void,
): void {
  const node = run.run.state.nodes.get(key ?? '');
  if (node?.interrupt === undefined) return;
  note?.(`answer ${node.interrupt.kind}`);
  run.answer(node.nodeId, answerTo(node.interrupt, action, voter), { iteration: node.iteration });
}

function answerTo({ kind }: InterruptState, action: string, voter: string): Json {
  if (kind === 'conversation.exchange')
    return action === 'reject' ? { operation: 'close' } : { content: `I am ${voter}.` };
  if (kind === 'clarification') return { answers: { answer: voter } };
  return { action, voter };
}

function finish(run: Simulation, children: ChildWorld): void {
  if (run.run.state.status === 'paused' || run.run.draining) {
    run.command({ type: 'pause', policy: 'immediate' });
    run.command({ type: 'resume' });
    return;
  }
  const key = [...run.open.keys()].sort()[0];
  if (key !== undefined) run.succeed(key);
  else if (children.finish()) return;
  else if (run.run.state.suspended.length > 0) finishQuestion(run);
  else if (!run.passTime()) run.settle({ type: 'tick' });
}

/** Approvals need two voices; a conversation without a number of turns must be closed. */
function finishQuestion(run: Simulation): void {
  const [key] = run.run.state.suspended;
  const kind = run.run.state.nodes.get(key ?? '')?.interrupt?.kind;
  if (kind === 'conversation.exchange') return answer(run, key, 'reject', 'first');
  answer(run, key, 'accept', 'first');
  answer(run, key, 'accept', 'second');
}

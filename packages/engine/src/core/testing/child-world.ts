import type { ChildCommand } from '../../ports/store.ts';
import type { NodeKey } from '../../model/run-state.ts';
import type { Choice } from './interleave.ts';
import type { Simulation } from './simulation.ts';

/**
 * The child runs of a simulated parent, as far as the parent can tell: they are created, wait, resume, complete or fail, and say
 * so in their own time, sometimes twice and sometimes late. Some never say anything until they are cancelled.
 */
export interface ChildWorld {
  /** The creation of some child is reported, well or badly. */
  create(choice: Choice): void;
  /** Some child that is waited for says something. */
  speak(choice: Choice): void;
  /** Something that was said before is said again. */
  repeat(choice: Choice): void;
  /** Every child that is waited for ends well, or the parent of one that stays silent is cancelled. False when there is none. */
  finish(): boolean;
  /** Ids of children whose end their parent has heard. */
  readonly ended: ReadonlySet<string>;
  readonly failedToCreate: ReadonlySet<string>;
}

export function childWorld(run: Simulation, note: (what: string) => void): ChildWorld {
  const said: ChildCommand[] = [];
  const ended = new Set<string>();
  const failedToCreate = new Set<string>();

  function waitedFor(): NodeKey[] {
    return [...run.run.state.nodes]
      .filter(
        ([, { child, status }]) => child !== undefined && (status === 'running' || status === 'suspended'),
      )
      .map(([key]) => key)
      .sort();
  }

  function tell(command: ChildCommand): void {
    said.push(command);
    const { commandResult } = run.command(command);
    const isEnd = ENDS.has(command.status);
    if (isEnd && commandResult?.applied === true) ended.add(command.childRunId);
  }

  function commandOf(key: NodeKey, status: ChildCommand['status']): ChildCommand {
    const childRunId = run.run.state.nodes.get(key)?.child?.runId ?? '';
    return {
      type: 'child',
      nodeKey: key,
      childRunId,
      status,
      ...(status === 'completed' && { outputs: { output: 'yes' }, variables: { count: 1 } }),
      ...(status === 'failed' && { error: { code: 'boom', message: 'It broke.' } }),
    };
  }

  return {
    ended,
    failedToCreate,
    create({ pick, outcome }) {
      const request = run.spawned[pick % Math.max(run.spawned.length, 1)];
      if (request === undefined) return;
      const { key, childRunId } = request;
      const isBad = (outcome === 'fatal' || outcome === 'retryable') && !ended.has(childRunId);
      note(isBad ? 'child not created' : 'child created');
      if (isBad && run.run.state.nodes.get(key)?.child?.runId === childRunId) failedToCreate.add(childRunId);
      const error = { code: 'unknown_child_workflow', message: 'No workflow has this id.' };
      run.settle({ type: 'child-created', key, childRunId, ...(isBad && { error }) });
    },
    speak({ pick, outcome }) {
      const keys = waitedFor();
      const key = keys[pick % Math.max(keys.length, 1)];
      if (key === undefined) return;
      const command = commandOf(key, statusFor(outcome, pick));
      if (ENDS.has(command.status) && isSilent(command.childRunId)) return;
      note(`child ${command.status}`);
      tell(command);
    },
    repeat({ pick }) {
      const command = said[pick % Math.max(said.length, 1)];
      if (command === undefined) return;
      note('child repeats itself');
      tell(command);
    },
    finish() {
      const [key] = waitedFor();
      if (key === undefined) return false;
      const command = commandOf(key, 'completed');
      if (isSilent(command.childRunId)) {
        note('silent child');
        run.command({ type: 'cancel', reason: 'no answer' });
      } else tell(command);
      return true;
    },
  };
}

const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** One child in sixteen never ends of itself. */
function isSilent(childRunId: string): boolean {
  return childRunId.endsWith('0');
}

function statusFor(outcome: Choice['outcome'], pick: number): ChildCommand['status'] {
  switch (outcome) {
    case 'ok':
      return 'completed';
    case 'yes':
      return pick % 2 === 0 ? 'running' : 'waiting-approval';
    case 'retryable':
      return pick % 2 === 0 ? 'waiting-input' : 'waiting-external';
    case 'fatal':
      return pick % 2 === 0 ? 'failed' : 'cancelled';
  }
}

import type { LiveRun } from '../../core/decide/live-run.ts';
import { durationDeadline } from '../../core/decide/run-end.ts';
import type { Input, Step } from '../../core/decide/step.ts';
import { stepOf } from '../../core/fold/step-fold.ts';
import { type EffectKey, effectOwner, type NodeError } from '../../model/run-state.ts';
import type { StoredCommand, CommandResult } from '../../ports/store.ts';

/** What the holder of a run makes of a step before and after it is durable. */

/** A command as an input; those that wait behind it are decided next. */
export function commandInput({ command, commandId }: StoredCommand, waiting: readonly StoredCommand[]) {
  return { type: 'command', command, commandId, commandsWait: waiting.length > 0 } as const;
}

/** Whether all that runs is stopped by what this input leads to: a cancel, a pause that does not wait, the end of the run's time. */
export function abortsEffects(run: LiveRun, input: Input, now: number): boolean {
  if (input.type === 'tick') return (durationDeadline(run) ?? Number.POSITIVE_INFINITY) <= now;
  if (input.type !== 'command') return false;
  const { command } = input;
  if (command.type === 'pause') return command.policy === 'immediate' && run.state.status === 'running';
  return command.type === 'cancel';
}

export function attemptOf({ state }: LiveRun, effect: EffectKey): number {
  const { key, step } = effectOwner(effect);
  const node = state.nodes.get(key);
  return (step === undefined ? node : node && stepOf(node, step))?.attempt ?? 0;
}

/** Without the facts that are on record already: a run that was loaded as of before the end of its log decides them again. */
export function unrecorded(step: Step, durableSeq: number): Step {
  const first = step.events[0];
  if (first === undefined || first.seq >= durableSeq) return step;
  return { ...step, events: step.events.filter(({ seq }) => seq >= durableSeq) };
}

export interface DecidedCommand {
  readonly commandId: string;
  readonly commandResult: CommandResult;
}

/** The command that this step has decided, if it was one and has been. */
export function decidedBy(
  input: { readonly commandId?: string },
  { commandResult }: Step,
): DecidedCommand | undefined {
  const { commandId } = input;
  return commandResult === undefined || commandId === undefined ? undefined : { commandId, commandResult };
}

/** What becomes of the effects and children of a step where nothing is performed. */
export function unperformedInputs({ effects, children }: Step, error: NodeError): Input[] {
  return [
    ...effects.map(
      ({ key, attempt }): Input => ({
        type: 'outcome',
        key,
        attempt,
        outcome: { ok: false, error },
      }),
    ),
    ...children.map(({ key, childRunId }): Input => ({ type: 'child-created', key, childRunId, error })),
  ];
}

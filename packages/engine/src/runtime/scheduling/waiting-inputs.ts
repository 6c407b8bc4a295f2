import type { EffectRequest, Input, NumberedChunk, Step } from '../../core/decide/step.ts';
import type { NodeEvent } from '../../model/node-type.ts';
import type { StoredCommand } from '../../ports/store.ts';
import { commandInput, type DecidedCommand } from './actor-step.ts';

/** An input of the core, and who waits to hear whether it became durable. */
export type TakenInput = Input & { readonly onRecorded?: Told | undefined };

/** Called once: true when what the input led to is durable, false when nothing came of it here. */
export type Told = (isDurable: boolean) => void;

/**
 * What waits for a run and was not taken yet: how it opens, commands, what effects and children have reported, and what a budget has cut
 * off. The order in which they are taken is the actor's (W-14).
 *
 * A class because every live run has one.
 */
export class WaitingInputs {
  readonly #opening: Input[];
  readonly #outcomes: TakenInput[] = [];
  /** Commands read from the inbox and not decided; those in `untried` are due for another look. */
  readonly #undecided = new Map<string, StoredCommand>();
  #untried: StoredCommand[] = [];
  /** Something may be in the inbox that was not read. */
  isInboxUnread: boolean;
  /** A budget ended the last batch. */
  #isCutOff: boolean;
  /** Only outcomes are taken any more. */
  isDraining = false;

  constructor(opening: readonly Input[], committed: Step | undefined) {
    this.#opening = [...opening];
    this.isInboxUnread = committed === undefined;
    this.#isCutOff = committed?.more ?? false;
  }

  get hasUndecided(): boolean {
    return this.#undecided.size > 0;
  }

  get hasOutcomes(): boolean {
    return this.#outcomes.length > 0;
  }

  get hasAny(): boolean {
    if (this.isInboxUnread || this.#isCutOff) return true;
    return this.#opening.length > 0 || this.#untried.length > 0 || this.#outcomes.length > 0;
  }

  push(input: TakenInput): void {
    this.#outcomes.push(input);
  }

  /** Pieces of one stream that come while the run is busy are recorded together. */
  pushChunk({ key, attempt }: EffectRequest, chunk: NumberedChunk, onRecorded?: Told): void {
    const last = this.#outcomes.at(-1);
    if (
      last?.type === 'progress' &&
      last.key === key &&
      last.attempt === attempt &&
      last.onRecorded === undefined &&
      last.events === undefined
    ) {
      this.#outcomes[this.#outcomes.length - 1] = { ...last, chunks: [...last.chunks, chunk], onRecorded };
    } else this.push({ type: 'progress', key, attempt, chunks: [chunk], onRecorded });
  }

  /** The same of facts. */
  pushEvent({ key, attempt }: EffectRequest, event: NodeEvent): void {
    const last = this.#outcomes.at(-1);
    const isSame = last?.type === 'progress' && last.key === key && last.attempt === attempt;
    if (isSame && last.events !== undefined)
      this.#outcomes[this.#outcomes.length - 1] = { ...last, events: [...last.events, event] };
    else this.push({ type: 'progress', key, attempt, chunks: [], events: [event] });
  }

  /** Nothing that waits will be taken. */
  refuseAll(): void {
    for (const { onRecorded } of this.#outcomes.splice(0)) onRecorded?.(false);
  }

  inboxRead(commands: readonly StoredCommand[]): void {
    for (const command of commands) {
      if (this.#undecided.has(command.commandId)) continue;
      this.#undecided.set(command.commandId, command);
      this.#untried.push(command);
    }
  }

  takeOpening(): Input | undefined {
    const [first] = this.#opening;
    // A run with a waiting cancel is not recovered by its new holder.
    if (first?.type === 'recovered' && this.#untried[0]?.command.type === 'cancel') return undefined;
    this.#opening.shift();
    const mayWait = first?.type === 'start' || first?.type === 'recovered';
    return mayWait && this.#untried.length > 0 ? { ...first, commandsWait: true } : first;
  }

  takeCommand(): ReturnType<typeof commandInput> | undefined {
    const command = this.#untried.shift();
    return command && commandInput(command, this.#untried);
  }

  takeOutcome(): TakenInput | undefined {
    return this.#outcomes.shift();
  }

  takeCutOff(): Input | undefined {
    return this.#isCutOff ? { type: 'continue' } : undefined;
  }

  /** The input led to this step. A command without a result is tried again after every later decision (W-15). */
  taken(input: Input, step: Step, decided: DecidedCommand | undefined): void {
    this.#isCutOff = step.more;
    if (decided !== undefined) this.#undecided.delete(decided.commandId);
    const isCommandLeft = decided === undefined && input.type === 'command';
    if (this.#undecided.size === 0) this.#untried.length = 0;
    else if (!isCommandLeft) this.#untried = [...this.#undecided.values()];
  }
}

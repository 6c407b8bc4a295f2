import type { JsonObject } from '@weft/protocol';
import type { Signal, StoredEvent } from '../../ports/store.ts';
import { spentBy } from '../costs/run-spending.ts';
import { evolve } from '../fold/evolve.ts';
import type { LiveRun, Batch, StepOwner } from './live-run.ts';
import { stepPerformer } from '../steps/step-performer.ts';
import { recordsOf } from '../steps/step-records.ts';
import { takesRunInputs } from './node-inputs.ts';
import { type Masking, maskSensitive } from '../redaction/redaction.ts';
import type { NodePlan, ScopePlan } from '../compile/plan.ts';
import { asRunEvent, type Draft, type UntypedFact } from '../../model/run-event.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';
import { type EffectKey, effectKey, nodeKey, type RunState, type StepState } from '../../model/run-state.ts';
import { collectOutputs } from './scope-result.ts';
import { outputSensitivity } from '../redaction/sensitive-places.ts';
import type { ChildRequest, EffectRequest, Moment } from './step.ts';

type Building<Thing> = { -readonly [Field in keyof Thing]: Thing[Field] };
type UntypedDraft = Omit<Draft, 'type' | 'payload' | 'shown'> & {
  readonly type: string;
  readonly payload: JsonObject;
  readonly shown?: JsonObject | undefined;
};

/**
 * Turns drafts into facts: numbers and times them, serializes each payload once, masks what the public may not see, and
 * folds the fact into the run's state. It also collects what is to be done once the facts are durable.
 *
 * A class because there is one per step of every run: nothing but its fields and lists is made for it.
 */
export class OpenBatch implements Batch {
  readonly run: LiveRun;
  readonly now: number;
  readonly events: StoredEvent[] = [];
  readonly effects: EffectRequest[] = [];
  readonly children: ChildRequest[] = [];
  readonly signals: Signal[] = [];
  readonly aborts: EffectKey[] = [];
  /** Of all payloads and overlays so far. */
  bytes = 0;
  readonly #moment: Moment;
  /** Of the first fact; empty after it. */
  #cause = '';

  constructor(run: LiveRun, moment: Moment) {
    this.run = run;
    this.now = moment.now;
    this.#moment = moment;
  }

  /** What leads to the facts from here on; the first fact of the batch keeps it (overlay.ts). */
  serve(cause: string): void {
    if (this.events.length === 0) this.#cause = cause;
  }

  get random(): number {
    return this.#moment.random;
  }

  /** The members of a draft are looked at by its drafter and by the fold; here they are text that may hold something sensitive. */
  record(draft: Draft | UntypedDraft): number {
    const { run } = this;
    const { type, nodeId, causeSeq, payload, shown = payload } = draft as UntypedDraft;
    const text = draft.text ?? JSON.stringify(payload);
    const shownText = shown === payload ? text : JSON.stringify(shown);
    const masked = run.redactor.apply(shown, shownText, draft.isForeign);
    const publicText = masked === undefined ? shownText : JSON.stringify(masked);
    const isMasked = publicText !== text;
    const event: Building<StoredEvent> = {
      seq: run.state.nextSeq,
      type,
      at: Math.max(this.now, run.state.lastAt),
      payload: publicText,
    };
    if (nodeId !== undefined) event.nodeId = nodeId;
    if (causeSeq !== undefined) event.causeSeq = causeSeq;
    const before = run.watch?.(event);
    if (before !== undefined) {
      this.record(before);
      event.seq = run.state.nextSeq;
    }
    const overlay = isMasked ? this.#cause + text : this.#cause;
    this.#cause = '';
    if (overlay !== '') event.overlay = overlay;
    this.events.push(event);
    this.bytes += publicText.length + overlay.length;
    const { seq, at } = event;
    const fact: Building<UntypedFact> = { seq, at, type, payload: isMasked ? payload : (masked ?? shown) };
    if (nodeId !== undefined) fact.nodeId = nodeId;
    evolve(run.state, asRunEvent(fact));
    run.known?.observe(asRunEvent(fact));
    return seq;
  }

  perform(node: NodePlan, path: readonly number[], inputs: JsonObject, of?: Sensitivity): void {
    this.effects.push(this.#request(node, path, inputs, of));
  }

  performAgain(node: NodePlan, path: readonly number[], inputs: JsonObject, of?: Sensitivity): void {
    this.effects.push({ ...this.#request(node, path, inputs, of), isRepeat: true });
  }

  performStep(step: StepState, owner: StepOwner, isRepeat: boolean): void {
    const { node, path, inputs, sensitivity, call } = owner;
    const known = this.run.state.nodes.get(nodeKey(node.id, path));
    const request = this.#request(node, path, inputs, sensitivity);
    const steps = known?.steps ?? [];
    const performer = call ?? stepPerformer(node, step);
    this.effects.push({
      ...request,
      key: effectKey(request.key, step.id),
      attempt: step.attempt,
      ...(performer ?? { step: { id: step.id, request: step.request, history: recordsOf(steps) } }),
      ...(isRepeat && { isRepeat }),
    });
  }

  #request(node: NodePlan, path: readonly number[], inputs: JsonObject, of?: Sensitivity): EffectRequest {
    const { state, known, masking } = this.run;
    const key = nodeKey(node.id, path);
    const request: Building<EffectRequest> = {
      key,
      node,
      iteration: path,
      attempt: state.nodes.get(key)?.attempt ?? 0,
      visit: state.visits.get(key),
      inputs,
      timeoutMs: node.settings.timeoutMs,
    };
    if (known !== undefined) request.redaction = { inputs: of, known, masking };
    if (this.run.record.configurable['budget'] !== undefined) request.spent = spentBy(state);
    return request;
  }

  abort(key: EffectKey): void {
    this.aborts.push(key);
  }

  spawn(request: ChildRequest): void {
    this.children.push(request);
  }

  notify(signal: Signal): void {
    this.signals.push(signal);
  }
}

/** A node's outputs as the public may see them: what is sensitive by the run's masking mode, raw inputs not at all. */
export function shownOutputs(
  node: NodePlan,
  outputs: JsonObject,
  sensitivity: Sensitivity | undefined,
  masking: Masking,
): JsonObject {
  if (isEmpty(outputs)) return outputs;
  if (node.type.privateOutputs === true || takesRunInputs(node)) return {};
  return shownMembers(outputs, sensitivity, masking);
}

/** The outputs of a run as the public may see them. */
export function shownResult(state: RunState, scope: ScopePlan, masking: Masking): JsonObject {
  return collectOutputs(state, scope, [], (node, outputs, known) =>
    shownOutputs(node, outputs, outputSensitivity(node, known), masking),
  );
}

/** An object of which only some members are hidden; what the mode leaves out is not there. */
export function shownMembers(
  object: JsonObject,
  sensitivity: Sensitivity | undefined,
  masking: Masking,
): JsonObject {
  const members = sensitivity === true ? allOf(object) : sensitivity;
  return maskSensitive(object, members, masking) as JsonObject;
}

function allOf(object: JsonObject): Sensitivity {
  return Object.fromEntries(Object.keys(object).map((name) => [name, true]));
}

export function isEmpty(object: JsonObject): boolean {
  for (const _key in object) return false;
  return true;
}

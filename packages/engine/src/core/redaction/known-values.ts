import type { Json } from '@weft/protocol';
import type { NodePlan } from '../compile/plan.ts';
import { type KnownTexts, MAX_TEXTS } from './redaction.ts';
import { foldPayload, namedNode, type RunEvent } from '../../model/run-event.ts';
import { nodeKey, type NodeState } from '../../model/run-state.ts';
import { createLiteralSearch } from './scan/literal-search.ts';
import { SHORT } from './scan/literal-tree.ts';
import { isMark } from './scan/marks.ts';
import {
  channelSensitivity,
  inputSensitivity,
  outputSensitivity,
  type RunView,
  variableSensitivity,
} from './sensitive-places.ts';
import { eachLeaf, memberOf, type Sensitivity } from './sensitivity.ts';

/**
 * The texts of a run that must not turn up in what comes from outside or what people say: a function of the fold, kept up to
 * date place by place, so that a fact costs what it changes and not what the run holds.
 *
 * What is declared sensitive counts at any length, and so does what a running effect was given or people were asked.
 *      What was derived from it counts from `SHORT` characters on (a result such as `ok` or `3` would blur everything), and
 *      not where it is one part of something larger: the other parts may be public elsewhere.
 * A text in a place declared not to be sensitive is public, although it was derived from something that is: it is not
 *      searched for, and is left as it is where it stands alone.
 * With more texts than can be searched for, all are dropped and everything from outside is hidden, until there are
 *      fewer.
 */
export interface KnownValues extends KnownTexts {
  /** A fact was folded. */
  observe(fact: RunEvent): void;
}

interface Leaf {
  readonly text: string;
  readonly isHidden: boolean;
}

interface HeldPlace {
  readonly size: number;
  /** None while there are too many. */
  leaves: readonly Leaf[];
}

const NOTHING: readonly Leaf[] = [];
const EMPTY: HeldPlace = { size: 0, leaves: NOTHING };

export function createKnownValues(view: RunView): KnownValues {
  const search = createLiteralSearch<string>();
  const places = new Map<string, HeldPlace>();
  const hidden = new Map<string, number>();
  const shown = new Map<string, number>();
  let total = 0;
  let isOverflowing = false;

  function count({ text, isHidden }: Leaf, step: 1 | -1): void {
    const counts = isHidden ? hidden : shown;
    const wasKnown = isKnown(text);
    const now = (counts.get(text) ?? 0) + step;
    if (now === 0) counts.delete(text);
    else counts.set(text, now);
    if (isKnown(text) === wasKnown) return;
    if (wasKnown) search.remove(text);
    else search.add(text, text);
  }

  function isKnown(text: string): boolean {
    return hidden.has(text) && !shown.has(text);
  }

  function set(place: string, leaves: readonly Leaf[]): void {
    const before = places.get(place) ?? EMPTY;
    if (leaves.length === 0 && before === EMPTY) return;
    const now = { size: leaves.length, leaves: isOverflowing ? NOTHING : leaves };
    places.set(place, now);
    total += now.size - before.size;
    // What only grew, as a list does, is not counted again.
    const same = sameLeaves(before.leaves, now.leaves);
    for (let at = same; at < now.leaves.length; at++) count(now.leaves[at] as Leaf, 1);
    for (let at = same; at < before.leaves.length; at++) count(before.leaves[at] as Leaf, -1);
    if (isOverflowing === total > MAX_TEXTS) return;
    if (isOverflowing) readAll();
    else forget();
  }

  function forget(): void {
    isOverflowing = true;
    for (const held of places.values()) {
      for (const leaf of held.leaves) count(leaf, -1);
      held.leaves = NOTHING;
    }
  }

  function readAll(): void {
    for (const { leaves } of places.values()) for (const leaf of leaves) count(leaf, -1);
    places.clear();
    total = 0;
    isOverflowing = false;
    for (const [place, leaves] of placesOf(view)) set(place, leaves);
  }

  /** A channel that no workflow declares is kept among the variables. */
  function written(name: string): void {
    set(...variablePlace(view, name));
    set(...channelPlace(view, name));
  }

  readAll();
  return {
    search,
    get isOverflowing() {
      return isOverflowing;
    },
    isPublic: (text) => shown.has(text),
    observe(fact) {
      if (fact.type === 'variable.changed') written(foldPayload(fact).name);
      else if (fact.type === 'channel.written') written(foldPayload(fact).channel);
      else if (restartsNodes(fact)) readAll();
      else if (fact.nodeId !== undefined) {
        const { iteration } = namedNode(fact.overlay ?? fact.payload);
        const key = nodeKey(fact.nodeId, Array.isArray(iteration) ? iteration : []);
        const known = view.state.nodes.get(key);
        if (known !== undefined) for (const place of nodePlaces(view, key, known)) set(...place);
      }
    },
  };
}

/** A cycle begins again, so nodes have gone. */
function restartsNodes(fact: RunEvent): boolean {
  if (fact.type !== 'node.completed' && fact.type !== 'weft.trigger.fired') return false;
  return foldPayload(fact).reenters !== undefined;
}

function sameLeaves(before: readonly Leaf[], now: readonly Leaf[]): number {
  let at = 0;
  while (
    at < before.length &&
    before[at]?.text === now[at]?.text &&
    before[at]?.isHidden === now[at]?.isHidden
  )
    at += 1;
  return at;
}

type Place = readonly [place: string, leaves: readonly Leaf[]];

function* placesOf(view: RunView): Generator<Place> {
  const { plan, record, state } = view;
  for (const { name, defaultValue, sensitive } of plan.variables.values()) {
    if (sensitive === true && defaultValue !== undefined)
      yield [`default ${name}`, leavesOf(defaultValue, true, 1)];
  }
  for (const name of Object.keys(record.inputs))
    yield [`input ${name}`, leavesOf(record.inputs[name] ?? null, inputSensitivity(view, name), 1)];
  for (const name of state.variables.keys()) yield variablePlace(view, name);
  for (const name of state.channels.keys()) yield channelPlace(view, name);
  for (const [key, known] of state.nodes) yield* nodePlaces(view, key, known);
}

function variablePlace(view: RunView, name: string): Place {
  const { plan, record, state } = view;
  const isOwn =
    plan.variables.get(name)?.sensitive === true || memberOf(record.sensitiveInputs, name) !== undefined;
  const value = state.variables.get(name) ?? null;
  return [`variable ${name}`, leavesOf(value, variableSensitivity(view, name), isOwn ? 1 : SHORT)];
}

function channelPlace(view: RunView, name: string): Place {
  const isOwn = view.plan.channels.get(name)?.sensitive === true;
  const value = view.state.channels.get(name) ?? null;
  return [`channel ${name}`, leavesOf(value, channelSensitivity(view, name), isOwn ? 1 : SHORT)];
}

function* nodePlaces({ plan }: RunView, key: string, known: NodeState): Generator<Place> {
  const node = plan.nodes.get(known.nodeId);
  const { interrupt } = known;
  const isAsked = interrupt !== undefined && isUnderWay(known);
  yield [`given ${key}`, isUnderWay(known) ? givenLeaves(node, known) : NOTHING];
  yield [`asked ${key}`, isAsked ? leavesOf(interrupt.data, interrupt.sensitive, 0) : NOTHING];
  yield [`outputs ${key}`, outputLeaves(node, known)];
}

/** Of the ports that the node makes use of; what only an edge carries to it goes nowhere. */
function givenLeaves(
  node: NodePlan | undefined,
  { inputs = {}, sensitiveInputs }: NodeState,
): readonly Leaf[] {
  if (sensitiveInputs === undefined) return NOTHING;
  const used = node?.type.dependsOn?.(node.config) ?? Object.keys(inputs);
  return used.flatMap((port) => leavesOf(inputs[port] ?? null, memberOf(sensitiveInputs, port), 0));
}

function isUnderWay({ status }: NodeState): boolean {
  return status === 'running' || status === 'suspended';
}

function outputLeaves(node: NodePlan | undefined, known: NodeState): readonly Leaf[] {
  const sensitivity = outputSensitivity(node, known);
  if (sensitivity === undefined || known.outputs === undefined) return NOTHING;
  return Object.entries(known.outputs).flatMap(([port, value]) =>
    leavesOf(value, memberOf(sensitivity, port), node?.sensitivePorts.get(port) === true ? 1 : SHORT),
  );
}

/** `minLength` 0: also of what is only among something sensitive, whatever its length. */
function leavesOf(value: Json, of: Sensitivity | undefined, minLength: number): readonly Leaf[] {
  if (of === undefined) return NOTHING;
  const leaves: Leaf[] = [];
  eachLeaf(value, of, (text, ofText) => {
    if (ofText === 'within' && minLength > 0) return true;
    const isHidden = ofText !== false;
    // A value that is nothing but a mark hides nothing.
    if (text.length >= (isHidden ? minLength : 1) && text !== '' && !isMark(text))
      leaves.push({ text, isHidden });
    return leaves.length <= MAX_TEXTS;
  });
  return leaves;
}

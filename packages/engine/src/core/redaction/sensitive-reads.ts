import type { Json, JsonObject } from '@weft/protocol';
import type { Reads } from '../expressions/expression-reads.ts';
import type { NodePlan } from '../compile/plan.ts';
import { type Place, visibleNode } from '../expressions/scope.ts';
import {
  channelSensitivity,
  inputSensitivity,
  outputSensitivity,
  type RunView,
  variableSensitivity,
} from './sensitive-places.ts';
import { isRead, isSensitive, memberOf, ofMade, ofMembers, type Sensitivity } from './sensitivity.ts';
import { nodeKey } from '../../model/run-state.ts';

/**
 * What one execution of a node reads: which of its inputs are sensitive, and whether it has looked at anything else that is.
 * Whatever it puts out afterwards is as sensitive as that.
 */
export class SensitiveReads {
  readonly view: RunView;
  /** By input port. */
  readonly ports = new Map<string, Sensitivity>();
  /** Something sensitive was read other than through the ports. */
  isTouched = false;
  /** Of what expressions see as `outputs`, where that is not the inputs. */
  outputs: Sensitivity | undefined;
  /** Variables that were asked for by name, for those who hand them on as they are. */
  readonly handed: { readonly value: Json; readonly sensitivity: Sensitivity | undefined }[] = [];

  constructor(view: RunView) {
    this.view = view;
  }

  /** Of all ports together. */
  get inputs(): Sensitivity | undefined {
    return ofMembers(this.ports);
  }

  note(of: Sensitivity | undefined): void {
    if (isSensitive(of)) this.isTouched = true;
  }

  /** An expression is evaluated at this place. `hasOwnInputs`: `inputs` and `outputs` are the node's ports, not the run's. */
  noteExpression(reads: Reads, place: Place, hasOwnInputs: boolean): void {
    if (reads === true || this.isTouched) return;
    for (const [root, part] of reads) {
      if (this.#isRootRead(root, part, place, hasOwnInputs)) this.isTouched = true;
    }
  }

  #isRootRead(root: string, part: Reads, place: Place, hasOwnInputs: boolean): boolean {
    const { plan, record, state } = this.view;
    switch (root) {
      case 'variables':
      case 'vars':
        return isAnyRead(part, state.variables.keys(), (name) => variableSensitivity(this.view, name));
      case 'inputs':
        return hasOwnInputs
          ? isRead(this.inputs, part)
          : isAnyRead(part, Object.keys(record.inputs), (name) => inputSensitivity(this.view, name));
      case 'outputs':
        return isRead(this.outputs ?? this.inputs, part);
      case 'output':
        return isRead(memberOf(this.outputs ?? this.inputs, 'output'), part);
      case 'nodes':
        return isAnyRead(part, plan.nodes.keys(), (id) => visibleSensitivity(plan.nodes.get(id), place));
      case 'item':
        return itemSensitivity(place);
      default:
        return false; // index, iteration, visit
    }
  }
}

/** `part` of an object whose members are evaluated one by one. */
function isAnyRead(
  part: Reads,
  names: Iterable<string>,
  sensitivityOf: (name: string) => Sensitivity | undefined,
): boolean {
  if (part !== true) {
    for (const [name, inner] of part) if (isRead(sensitivityOf(name), inner)) return true;
    return false;
  }
  for (const name of names) if (isSensitive(sensitivityOf(name))) return true;
  return false;
}

function visibleSensitivity(node: NodePlan | undefined, place: Place): Sensitivity | undefined {
  const known = node && visibleNode(place, node);
  return known === undefined ? undefined : outputSensitivity(node, known);
}

/** Whether the items of the loop around the place are sensitive. */
export function itemSensitivity({ scope: { loop }, path, state }: Place): boolean {
  if (loop === undefined) return false;
  return state.nodes.get(nodeKey(loop.id, path.slice(0, -1)))?.sensitiveItems === true;
}

/** Variables as a node sees them; what it asks for is noted. */
export class WatchedVariables extends Map<string, Json> {
  readonly #reads: SensitiveReads;

  constructor(reads: SensitiveReads) {
    super(reads.view.state.variables);
    this.#reads = reads;
  }

  override get(name: string): Json | undefined {
    const value = super.get(name);
    if (value === undefined) return undefined;
    const sensitivity = variableSensitivity(this.#reads.view, name);
    this.#reads.note(sensitivity);
    this.#reads.handed.push({ value, sensitivity });
    return value;
  }

  override values(): MapIterator<Json> {
    this.#noteAll();
    return super.values();
  }

  override entries(): MapIterator<[string, Json]> {
    this.#noteAll();
    return super.entries();
  }

  override [Symbol.iterator](): MapIterator<[string, Json]> {
    return this.entries();
  }

  override forEach(visit: (value: Json, name: string, map: Map<string, Json>) => void): void {
    this.#noteAll();
    super.forEach(visit);
  }

  #noteAll(): void {
    for (const name of this.keys()) this.#reads.note(variableSensitivity(this.#reads.view, name));
  }
}

export function noteChannel(reads: SensitiveReads, name: string): void {
  reads.note(channelSensitivity(reads.view, name));
}

/** What a node that computes has put out is as sensitive as what it has read. */
export function isComputedFromSensitive(reads: SensitiveReads, { type, config }: NodePlan): boolean {
  if (reads.isTouched) return true;
  const used = type.dependsOn?.(config) ?? [...reads.ports.keys()];
  return used.some((port) => isSensitive(reads.ports.get(port)));
}

/** By port: of nodes that only hand their inputs on, and of all others. */
export function computedOutputs(
  reads: SensitiveReads,
  node: NodePlan,
  inputs: JsonObject,
  outputs: JsonObject,
): Sensitivity | undefined {
  if (node.type.passesOn === true) {
    return ofMembers(Object.entries(outputs).map(([port, value]) => [port, handedOn(reads, inputs, value)]));
  }
  return ofMembers(
    Object.entries(outputs).map(([port, value]) => [port, computedValue(reads, node, inputs, value)]),
  );
}

/** An object that is one of the inputs was handed on as it is; equal texts or numbers could have been worked out as well. */
export function computedValue(
  reads: SensitiveReads,
  node: NodePlan,
  inputs: JsonObject,
  value: Json,
): Sensitivity | undefined {
  const isHandedOn = typeof value === 'object' && value !== null && Object.values(inputs).includes(value);
  if (isHandedOn) return handedOn(reads, inputs, value);
  return isComputedFromSensitive(reads, node) ? ofMade(value) : undefined;
}

/** Of a value that is one of the inputs, or all of them; equal inputs cannot be distinguished. */
function handedOn(reads: SensitiveReads, inputs: JsonObject, value: Json): Sensitivity | undefined {
  if (value === inputs) return reads.inputs;
  const equal = Object.keys(inputs).filter((port) => inputs[port] === value);
  const found = equal.map((port) => reads.ports.get(port)).filter((of) => isSensitive(of));
  return found.length > 1 ? 'within' : found[0];
}

/** Of what a node asks, or tells in events, member by member: its inputs and its config keep what they are, the rest was computed. */
export function saidSensitivity(
  reads: SensitiveReads,
  node: NodePlan,
  inputs: JsonObject,
  said: JsonObject,
  isOwn: (member: string) => boolean,
): Sensitivity | undefined {
  const isComputed = isComputedFromSensitive(reads, node);
  return ofMembers(
    Object.entries(said).map(([member, value]) => {
      if (isOwn(member) || value === node.config[member]) return [member, undefined];
      const isInput = Object.values(inputs).includes(value);
      if (isInput) return [member, handedOn(reads, inputs, value)];
      return [member, isComputed ? ofMade(value) : undefined];
    }),
  );
}

/** Of a child's inputs, each of which is a variable handed on, or was computed. */
export function handedSensitivity(reads: SensitiveReads, inputs: JsonObject): Sensitivity | undefined {
  if (!reads.isTouched) return undefined;
  return ofMembers(
    Object.entries(inputs).map(([name, value]) => {
      const from = reads.handed.filter((handed) => handed.value === value);
      if (from.length === 0) return [name, ofMade(value)];
      const sensitive = from.filter(({ sensitivity }) => isSensitive(sensitivity));
      return [name, sensitive.length > 1 ? 'within' : sensitive[0]?.sensitivity];
    }),
  );
}

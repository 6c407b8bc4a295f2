import type { Json, JsonObject } from '@weft/protocol';
import { type InputPortRules, NodeFailure } from '../../model/node-type.ts';
import { edgeOutcome, edgeValue } from './edges.ts';
import { jsonSize } from '../json/json-size.ts';
import { expressionFailure, hiddenExpressionFailure } from '../expressions/expression-failure.ts';
import type { NodePlan, Plan, PortPlan } from '../compile/plan.ts';
import { nodeKey } from '../../model/run-state.ts';
import { currentItem, expressionScope, type Place, visibleNode } from '../expressions/scope.ts';
import { inputSensitivity, outputSensitivity, variableSensitivity } from '../redaction/sensitive-places.ts';
import { itemSensitivity, SensitiveReads } from '../redaction/sensitive-reads.ts';
import { memberOf, ofMade, type Sensitivity } from '../redaction/sensitivity.ts';

/**
 * The values on a node's input ports: what its taken edges carry, overlaid by the inputs it declares. The first node of a
 * loop's body gets the item and its index; a first node of the run may get the run's inputs (see `takesRunInputs`). `reads` collects
 * which of them are sensitive.
 */
export function resolveInputs(plan: Plan, place: Place, node: NodePlan, reads?: SensitiveReads): JsonObject {
  const inputs = node.incoming.length === 0 ? entryInputs(place, node) : {};
  if (reads !== undefined && node.incoming.length === 0) noteEntry(place, inputs, reads);
  takeEdges(place, node, inputs, reads);
  for (const port of node.ports) {
    const value = portValue(plan, place, node, port, reads);
    if (value === undefined) delete inputs[port.name];
    else setMember(inputs, port.name, value);
  }
  if (node.type.portsFromVariables === true) takeVariables(place, node, inputs, reads);
  if (node.type.inputPorts !== undefined) dropOthers(inputs, node.type.inputPorts, reads);
  if (node.ports.length + node.incoming.length > FEW_SOURCES) checkSize(inputs, place, node);
  return inputs;
}

function takeVariables(place: Place, { type }: NodePlan, inputs: JsonObject, reads?: SensitiveReads): void {
  for (const name of type.inputPorts?.named ?? []) {
    const value = place.state.variables.get(name);
    if (value === undefined || Object.hasOwn(inputs, name)) continue;
    if (reads !== undefined) notePort(reads, name, variableSensitivity(reads.view, name));
    setMember(inputs, name, value);
  }
}

/** What the edges that were taken carry. */
function takeEdges(place: Place, node: NodePlan, inputs: JsonObject, reads?: SensitiveReads): void {
  for (const edge of node.incoming) {
    if (edgeOutcome(place.state, edge, place.path) !== 'success') continue;
    const source = place.state.nodes.get(nodeKey(edge.source.id, place.path));
    const outputs = source?.outputs ?? {};
    const value = edgeValue(edge, outputs);
    if (value === undefined) continue;
    setMember(inputs, edge.targetPort, value);
    if (reads === undefined || source === undefined) continue;
    const sensitivity = outputSensitivity(edge.source, source);
    notePort(
      reads,
      edge.targetPort,
      value === outputs ? sensitivity : memberOf(sensitivity, edge.sourcePort),
    );
  }
}

/** An edge that only says what comes first carries a value all the same, to a port that the node may not have. */
function dropOthers(inputs: JsonObject, { named, isOpen }: InputPortRules, reads?: SensitiveReads): void {
  if (isOpen) return;
  for (const port of Object.keys(inputs)) {
    if (named.includes(port)) continue;
    delete inputs[port];
    reads?.ports.delete(port);
  }
}

/** As many values together are no danger, each being an output that was small enough to be recorded. */
const FEW_SOURCES = 16;

/** The same large output may arrive on a thousand ports, and is then as large wherever the inputs are written down. */
function checkSize(inputs: JsonObject, { record }: Place, node: NodePlan): void {
  const limit = record.limits.maxStateBytes;
  const observed = jsonSize(inputs, limit);
  if (observed <= limit) return;
  throw new NodeFailure(
    'input_too_large',
    `The inputs of node "${node.id}" take more than ${limit} bytes together; pass references to large values.`,
    { details: { limit, observed } },
  );
}

function noteEntry(place: Place, inputs: JsonObject, reads: SensitiveReads): void {
  if (place.scope.loop === undefined) {
    for (const name of Object.keys(inputs)) notePort(reads, name, inputSensitivity(reads.view, name));
  } else if (itemSensitivity(place)) for (const port of ['item', 'input']) notePort(reads, port, true);
}

function notePort(reads: SensitiveReads, port: string, sensitivity: Sensitivity | undefined): void {
  if (sensitivity === undefined) reads.ports.delete(port);
  else reads.ports.set(port, sensitivity);
}

/** A port may be called anything, also what an assignment would take for the prototype. */
function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** True when resolving again later could give other values: after a crash the effect must be repeated with the same ones. */
export function mustFreezeInputs(node: NodePlan): boolean {
  if (node.rule === 'any_success' || node.rule === 'any_failed') return true;
  return node.ports.some((port) => port.from === 'variable' || port.from === 'expression');
}

/**
 * Run inputs reach a node unasked only where it can do no harm: a pure node at the very start that declares no inputs of its
 * own. (A client that starts a run must not replace the URL of an effect.) Such a node repeats raw inputs, so its outputs
 * are never shown.
 */
export function takesRunInputs(node: NodePlan): boolean {
  const isEntry = node.scope.loop === undefined && node.incoming.length === 0;
  return isEntry && node.type.kind === 'pure' && node.ports.length === 0;
}

/** A new object each time: what the node declares is added to it. */
function entryInputs(place: Place, node: NodePlan): JsonObject {
  if (place.scope.loop === undefined) return takesRunInputs(node) ? { ...place.record.inputs } : {};
  const item = currentItem(place);
  const index = place.path.at(-1) ?? 0;
  return item === undefined ? { index } : { item, input: item, index };
}

function portValue(
  plan: Plan,
  place: Place,
  node: NodePlan,
  port: PortPlan,
  reads: SensitiveReads | undefined,
): Json | undefined {
  switch (port.from) {
    case 'static':
      reads?.ports.delete(port.name);
      return port.value;
    case 'expression':
      return evaluatePort(place, port, reads);
    case 'connection': {
      const source = plan.nodes.get(port.nodeId);
      const known = source && visibleNode(place, source);
      const value = known?.outputs?.[port.outputKey];
      if (reads !== undefined && known !== undefined)
        notePort(reads, port.name, memberOf(outputSensitivity(source, known), port.outputKey));
      if (value === undefined && !port.optional) {
        throw new NodeFailure(
          'input_unresolved',
          `Input "${port.name}" of node "${node.id}" needs output "${port.outputKey}" of node "${port.nodeId}", which did not produce it. Mark the input optional, or produce the output.`,
        );
      }
      return value;
    }
    case 'variable': {
      const value = place.state.variables.get(port.variableName);
      if (reads !== undefined) notePort(reads, port.name, variableSensitivity(reads.view, port.variableName));
      if (value === undefined && !port.optional) {
        throw new NodeFailure(
          'input_unresolved',
          `Input "${port.name}" of node "${node.id}" needs variable "${port.variableName}", which is not set. Give it a default, pass it as a run input, or mark the input optional.`,
        );
      }
      return value;
    }
  }
}

function evaluatePort(
  place: Place,
  { name, expression }: PortPlan & { from: 'expression' },
  reads: SensitiveReads | undefined,
): Json {
  const own = reads && new SensitiveReads(reads.view);
  try {
    const value = expression(expressionScope(place, { reads: own }), place.budget);
    if (reads !== undefined) notePort(reads, name, own?.isTouched === true ? ofMade(value) : undefined);
    return value;
  } catch (error) {
    const what = `Input "${name}"`;
    throw own?.isTouched === true
      ? hiddenExpressionFailure(error, what)
      : expressionFailure(error, `${what} could not be evaluated: `);
  }
}

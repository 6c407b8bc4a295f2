import { isJsonObject, type Json, type JsonObject, type Problem } from '@weft/protocol';

/**
 * A definition with mistakes in its shape, made fit to be looked at further: what is missing gets a stand-in, what is unknown is left
 * out, and a node or edge that makes no sense keeps its place and its id, so that nothing is said about it twice.
 */
export interface BrokenParts {
  /** Positions of those that only keep a place. */
  readonly nodes: Set<number>;
  readonly edges: Set<number>;
  /** Names of those of which nothing else is known. */
  readonly variables: Set<string>;
}

const TOP: Readonly<Record<string, Json>> = {
  id: 'x',
  name: 'x',
  version: '1',
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};
const NODE: JsonObject = { name: 'x', position: { x: 0, y: 0 }, config: {}, inputs: {} };
/** Members of a node that no later check looks at. */
const NODE_ASIDE = /^(?:name|position|notes|groupId|artifactType|cardType|outputRole|disabled)$/;

/** A part of a list that has the problem, made fit. */
type InPlace = (part: Json, index: number, problem: Problem, broken: BrokenParts) => Json;

const IN_PLACE: Readonly<Record<string, InPlace>> = {
  nodes: nodeInPlace,
  edges: edgeInPlace,
  variables: variableInPlace,
  triggers: (_part, index) => ({ id: `#${index}`, type: 'manual' }),
};
/** Without them nothing is known of the nodes that use them. */
const NEEDED = new Set(['nodes', 'channels']);

/** Changes the definition in place. False where nothing can be said about the rest before the problem is corrected. */
export function standIn(definition: JsonObject, problem: Problem, broken: BrokenParts): boolean {
  const path = stepsOf(problem);
  const [member = '', position = ''] = path;
  if (problem.keyword === 'additionalProperties') return removeAt(definition, path);
  if (member === '') return fill(definition, TOP);
  const list = definition[member];
  const inPlace = IN_PLACE[member];
  if (inPlace !== undefined && Array.isArray(list) && position !== '') {
    const index = Number(position);
    list[index] = inPlace(list[index] ?? null, index, problem, broken);
    return true;
  }
  if (NEEDED.has(member)) return false;
  const usual = TOP[member];
  if (usual === undefined) delete definition[member];
  else definition[member] = structuredClone(usual);
  return true;
}

function stepsOf({ path }: Problem): string[] {
  const steps = path.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function nodeInPlace(part: Json, index: number, problem: Problem, broken: BrokenParts): Json {
  const node = isJsonObject(part) ? part : {};
  const [, , field = ''] = stepsOf(problem);
  const isMissing = field === '' && problem.keyword === 'required';
  if (isMissing && node['id'] !== undefined && node['typeId'] !== undefined) {
    fill(node, NODE);
    return node;
  }
  if (NODE_ASIDE.test(field)) {
    delete node[field];
    fill(node, NODE);
    return node;
  }
  broken.nodes.add(index);
  const typeId = nameOr(node, 'typeId', '');
  return {
    ...structuredClone(NODE),
    id: nameOr(node, 'id', `#${index}`),
    typeId: /^[a-z][a-zA-Z0-9._-]*$/.test(typeId) ? typeId : 'x',
  };
}

function edgeInPlace(part: Json, index: number, _problem: Problem, broken: BrokenParts): Json {
  broken.edges.add(index);
  return {
    id: nameOr(part, 'id', `#${index}`),
    sourceNodeId: nameOr(part, 'sourceNodeId', '#'),
    targetNodeId: nameOr(part, 'targetNodeId', '#'),
    targetInput: nameOr(part, 'targetInput', 'input'),
  };
}

function variableInPlace(part: Json, index: number, _problem: Problem, broken: BrokenParts): Json {
  const name = nameOr(part, 'name', `#${index}`);
  broken.variables.add(name);
  return { name, type: 'string' };
}

function nameOr(part: Json, member: string, otherwise: string): string {
  const name = isJsonObject(part) ? part[member] : undefined;
  return typeof name === 'string' && name !== '' ? name : otherwise;
}

function fill(object: JsonObject, usual: JsonObject): boolean {
  for (const [name, value] of Object.entries(usual)) object[name] ??= structuredClone(value);
  return true;
}

function removeAt(definition: JsonObject, path: readonly string[]): boolean {
  let at: Json | undefined = definition;
  for (const step of path.slice(0, -1))
    at = Array.isArray(at) ? at[Number(step)] : isJsonObject(at) ? at[step] : undefined;
  if (!isJsonObject(at)) return false;
  return delete at[path.at(-1) ?? ''];
}

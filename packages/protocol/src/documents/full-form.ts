import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/**
 * A definition as it is kept, from one as it may be written: members that authors leave out get their usual values, and `$schema`,
 * which is for editors, goes. What has nothing to fill in is returned as it is, and what is no definition, too: its mistakes are found
 * where definitions are checked.
 */
export function fullForm(definition: Json): Json {
  if (!isJsonObject(definition)) return definition;
  const { nodes } = definition;
  const full = filled(definition, () => ({
    name: nameFrom(definition),
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  }));
  if (Array.isArray(nodes) && nodes.some(lacksMembers)) {
    const filledNodes = nodes.map((node) =>
      isJsonObject(node) ? filled(node, () => usualNode(node)) : node,
    );
    return withoutSchema({ ...full, nodes: filledNodes });
  }
  return withoutSchema(full);
}

const NODE_MEMBERS = ['name', 'position', 'config', 'inputs'] as const;

function lacksMembers(node: Json): boolean {
  return isJsonObject(node) && NODE_MEMBERS.some((member) => !Object.hasOwn(node, member));
}

function usualNode(node: JsonObject): JsonObject {
  return { name: nameFrom(node), position: { x: 0, y: 0 }, config: {}, inputs: {} };
}

/** What has no id either is refused for that alone. */
function nameFrom({ id }: JsonObject): string {
  return typeof id === 'string' && id !== '' ? id : '?';
}

function filled(object: JsonObject, usual: () => JsonObject): JsonObject {
  const missing = Object.entries(usual()).filter(([member]) => !Object.hasOwn(object, member));
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

function withoutSchema(definition: JsonObject): JsonObject {
  if (typeof definition['$schema'] !== 'string') return definition;
  const { $schema: _, ...rest } = definition;
  return rest;
}

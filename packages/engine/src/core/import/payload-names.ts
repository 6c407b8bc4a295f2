import { EVENT_CATALOGUE, isJsonObject, type Json, type JsonObject, nameProblem } from '@weft/protocol';
import { pointer } from '../compile/problems.ts';

/** Members of payloads that only people read. Every other text that the catalogue has in a payload is an id, a name or a code. */
const FREE_TEXT: ReadonlySet<string> = new Set([
  'arguments',
  'base64',
  'chunk',
  'comment',
  'committedPrefix',
  'composed',
  'criteria',
  'delta',
  'feedback',
  'finalError',
  'finalText',
  'message',
  'previousError',
  'prompt',
  'question',
  'reason',
  'reasoning',
  'refusalReason',
  'refusalText',
  'summary',
  'systemPrompt',
  'text',
  'title',
  'userPrompt',
]);

const SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  EVENT_CATALOGUE.map(({ type, payload }) => [type, payload as Schema]),
);

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export interface WrongName {
  /** JSON Pointer into the payload. */
  readonly path: string;
  readonly problem: string;
}

/** The first name in the payload of an event of the catalogue that is none; undefined when there is no such. */
export function wrongNameIn(type: string, payload: Json): WrongName | undefined {
  const schema = SCHEMAS.get(type);
  return schema && find(schema, payload, []);
}

function find(schema: Schema, value: Json, steps: readonly (string | number)[]): WrongName | undefined {
  if (schema.type === 'string' && typeof value === 'string') {
    const problem = nameProblem(value);
    return problem === undefined ? undefined : { path: pointer(...steps), problem };
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    const { items } = schema;
    return first(value.entries(), ([index, item]) => find(items, item, [...steps, index]));
  }
  if (isJsonObject(value) && schema.properties !== undefined) return findInMembers(schema, value, steps);
  return first(schema.anyOf ?? [], (branch) => find(branch, value, steps));
}

function findInMembers(
  { properties = {} }: Schema,
  value: JsonObject,
  steps: readonly (string | number)[],
): WrongName | undefined {
  return first(Object.entries(properties), ([name, member]) => {
    if (FREE_TEXT.has(name) || !Object.hasOwn(value, name)) return undefined;
    return find(member, value[name] ?? null, [...steps, name]);
  });
}

function first<Item, Found>(
  items: Iterable<Item>,
  look: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

import type { JsonSchema } from '../schema.ts';

/** The keywords of JSON Schema that our schemas and the published one use; an unknown keyword is an error. */
export function isValid(schema: JsonSchema, value: unknown, root: JsonSchema = schema): boolean {
  return Object.entries(schema).every(([keyword, wanted]) =>
    keywordHolds(keyword, wanted, value, schema, root),
  );
}

function keywordHolds(
  keyword: string,
  wanted: unknown,
  value: unknown,
  schema: JsonSchema,
  root: JsonSchema,
): boolean {
  const list = Array.isArray(value) ? (value as unknown[]) : undefined;
  const fields = isObject(value) ? value : undefined;
  const sub = (inner: unknown, item: unknown): boolean => isValid(inner as JsonSchema, item, root);
  switch (keyword) {
    case '$schema':
    case '$id':
    case '$defs':
    case 'title':
    case 'description':
      return true;
    case '$ref':
      return sub(resolveRef(String(wanted), root), value);
    case 'const':
      return JSON.stringify(value) === JSON.stringify(wanted);
    case 'enum':
      return (wanted as unknown[]).includes(value);
    case 'type':
      return [wanted].flat().some((type) => hasType(String(type), value));
    case 'required':
      return fields === undefined || (wanted as string[]).every((key) => Object.hasOwn(fields, key));
    case 'properties':
      return Object.entries(wanted as object).every(
        ([key, inner]) => fields === undefined || !Object.hasOwn(fields, key) || sub(inner, fields[key]),
      );
    case 'additionalProperties':
      return (
        fields === undefined ||
        Object.keys(fields).every((key) => Object.hasOwn(schema['properties'] as object, key))
      );
    case 'items': {
      const from = ((schema['prefixItems'] as unknown[] | undefined) ?? []).length;
      return (list ?? []).slice(from).every((item) => wanted !== false && sub(wanted, item));
    }
    case 'prefixItems':
      return (wanted as unknown[]).every(
        (inner, index) => list === undefined || index >= list.length || sub(inner, list[index]),
      );
    case 'minItems':
      return list === undefined || list.length >= Number(wanted);
    case 'maxItems':
      return list === undefined || list.length <= Number(wanted);
    case 'uniqueItems':
      return list === undefined || new Set(list.map((item) => JSON.stringify(item))).size === list.length;
    case 'minLength':
      return typeof value !== 'string' || value.length >= Number(wanted);
    case 'not':
      return !sub(wanted, value);
    case 'anyOf':
      return (wanted as unknown[]).some((inner) => sub(inner, value));
    case 'allOf':
      return (wanted as unknown[]).every((inner) => sub(inner, value));
    default:
      throw new Error(`The test validator does not know "${keyword}".`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

function resolveRef(ref: string, root: JsonSchema): unknown {
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], root);
}

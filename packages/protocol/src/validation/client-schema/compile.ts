import type { Allowance } from '../allowance.ts';
import { HostError } from '../../errors/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts';
import { compilePattern, type Pattern, PatternError } from '../pattern/pattern.ts';
import type { Check, Schema } from './evaluate.ts';
import type { Keyword, Site } from './keyword.ts';
import { KEYWORDS } from './keywords.ts';
import { escapePointer, refuse, resolvePointer } from './refuse.ts';
import { SHAPES } from './shapes.ts';

interface Making {
  readonly root: JsonObject;
  readonly allowance: Allowance;
  /** What is referred to from several places is made once. */
  readonly made: Map<JsonObject, Schema>;
  readonly patterns: Map<string, Pattern>;
}

/** Takes time in proportion to the schema. No `$ref` of it may recurse. */
export function makeSchema(root: JsonObject, allowance: Allowance): Schema {
  return make(root, '', { root, allowance, made: new Map(), patterns: new Map() });
}

function make(value: Json, path: string, making: Making): Schema {
  if (typeof value === 'boolean') return value;
  if (!isJsonObject(value)) return refuse(path, `it must be ${SHAPES.schema[1]}`);
  const known = making.made.get(value);
  if (known !== undefined) return known;
  const checks: Check[] = [];
  for (const [keyword, row] of keywordsOf(value)) {
    const check = makeCheck(keyword, row, value, path, making);
    if (check !== undefined) checks.push(check);
  }
  const tracksEvaluated =
    Object.hasOwn(value, 'unevaluatedProperties') || Object.hasOwn(value, 'unevaluatedItems');
  const schema = { checks, tracksEvaluated };
  making.made.set(value, schema);
  return schema;
}

/** In the order in which they are asked. */
function keywordsOf(schema: JsonObject): [string, Keyword][] {
  const found: [string, Keyword][] = [];
  for (const name of Object.keys(schema)) {
    const row = KEYWORDS.get(name);
    if (row !== undefined) found.push([name, row]);
  }
  return found.sort(([left], [right]) => (ORDER.get(left) ?? 0) - (ORDER.get(right) ?? 0));
}

const ORDER: ReadonlyMap<string, number> = new Map([...KEYWORDS.keys()].map((name, index) => [name, index]));

function makeCheck(
  keyword: string,
  { shape, make: makeRow }: Keyword,
  schema: JsonObject,
  around: string,
  making: Making,
): Check | undefined {
  const path = `${around}/${escapePointer(keyword)}`;
  const value = schema[keyword] as Json;
  const [isRight, words] = SHAPES[shape];
  if (!isRight(value)) refuse(path, `${keyword} must be ${words}`);
  const site: Site = {
    keyword,
    schema,
    path: `#${path}`,
    subschema: (part, ...steps) =>
      make(part, [path, ...steps.map((step) => escapePointer(String(step)))].join('/'), making),
    sibling: (name) => {
      const part = schema[name];
      return part === undefined ? undefined : make(part, `${around}/${name}`, making);
    },
    pattern: (source) => patternAt(source, path, making),
    reference: (pointer) =>
      make(resolvePointer(making.root, pointer) ?? null, decodeURIComponent(pointer.slice(1)), making),
  };
  return makeRow(value, site);
}

function patternAt(source: string, path: string, { allowance, patterns }: Making): Pattern {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const pattern = compileOrRefuse(source, path);
  allowance.take('patternInstructions', pattern.size);
  patterns.set(source, pattern);
  return pattern;
}

function compileOrRefuse(source: string, path: string): Pattern {
  try {
    return compilePattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { message, limit, observed } = error;
    if (limit === undefined || observed === undefined) return refuse(path, message.replace(/\.$/, ''));
    throw new HostError('pattern_too_costly', `The schema is not acceptable at ${path}: ${message}`, {
      field: path,
      limit,
      observed,
    });
  }
}

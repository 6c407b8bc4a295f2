import type { JsonObject } from '../json/json.ts';
import { NAME_FORMAT, nameProblem, shownName } from '../json/names.ts';

/** One thing wrong with a document. */
export interface Problem {
  /** JSON Pointer of the place; empty for the document itself. */
  readonly path: string;
  readonly message: string;
  /** The JSON Schema keyword that was not met. */
  readonly keyword: string;
}

/** What a validator says is wrong; Ajv's own errors look like this too. */
export interface Finding {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
  /** The schema of which the keyword is a member. */
  readonly parentSchema?: object | undefined;
  /** What does not meet the keyword, and where that is the name of a member, this name. */
  readonly data?: unknown;
  readonly propertyName?: string | undefined;
}

/** Characters of a name or value that are shown: a problem is a sentence, and there may be twenty of them. */
const MAX_SHOWN = 200;

/** Turns a validator's findings into sentences a person can act on. */
export function toProblems(errors: readonly Finding[]): Problem[] {
  return errors
    .filter((error) => error.keyword !== 'propertyNames') // says only that what is wrong with a name follows
    .map((error) => ({
      path: placeOf(error),
      message: sentenceFor(error),
      keyword: error.keyword,
    }));
}

/** For an unknown field, or one whose name is wrong, the place is the field itself, not the object that holds it. */
function placeOf(error: Finding): string {
  const member = unknownField(error) ?? error.propertyName;
  if (member === undefined) return error.instancePath;
  return `${error.instancePath}/${escapePointer(member.slice(0, MAX_SHOWN))}`;
}

function unknownField(error: Finding): string | undefined {
  const params = error.params as JsonObject;
  const name = params.additionalProperty ?? params.unevaluatedProperty;
  return typeof name === 'string' ? name : undefined;
}

type Params = Readonly<Record<string, unknown>>;

const SENTENCES: Readonly<Record<string, (params: Params) => string>> = {
  required: ({ missingProperty }) => `the field "${String(missingProperty)}" is missing`,
  type: ({ type }) => `must be ${aType(type)}`,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${shown(allowedValue)}`,
  pattern: ({ pattern }) => `must match the pattern ${String(pattern)}`,
  format: ({ format }) => `must be a valid ${String(format)}`,
  anyOf: () => 'has none of the forms that are allowed here',
  oneOf: () => 'has none of the forms that are allowed here, or several at once',
  minLength: ({ limit }) => `must have at least ${String(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => `must have at least ${String(limit)} entries`,
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  uniqueItems: () => 'must not hold the same entry twice',
  not: () => 'has a combination of fields that is not allowed',
};

function sentenceFor(error: Finding): string {
  const unknown = unknownField(error);
  if (unknown !== undefined) return unknownFieldSentence(unknown, knownFields(error));
  const wrongName = wrongNameSentence(error);
  if (wrongName !== undefined) return wrongName;
  const sentence = SENTENCES[error.keyword];
  return sentence?.(error.params) ?? error.message ?? `does not meet "${error.keyword}"`;
}

function wrongNameSentence(error: Finding): string | undefined {
  if (error.params['format'] !== NAME_FORMAT || typeof error.data !== 'string') return undefined;
  const problem = nameProblem(error.data);
  return problem && error.propertyName !== undefined ? `its name ${problem}` : problem;
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function aType(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : String(type).split(',');
  return types.map((name) => TYPE_NAMES[name] ?? name).join(' or ');
}

function listed(values: unknown): string {
  if (!Array.isArray(values)) return 'the allowed values';
  const first = values.slice(0, 20).map(shown).join(', ');
  return values.length > 20 ? `${first} …` : first;
}

/** A value of a schema as JSON, as far as a sentence has room for it. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function unknownFieldSentence(name: string, known: readonly string[]): string {
  const shown = shownName(JSON.stringify(name.slice(0, 64)));
  const meant = closest(name, known);
  return meant === undefined
    ? `unknown field ${shown}`
    : `unknown field ${shown}; did you mean ${JSON.stringify(meant)}?`;
}

interface Composed {
  readonly properties?: object;
  readonly allOf?: readonly Composed[];
}

/** Names the schema knows at this place; for a composed schema, those of all its parts. */
function knownFields(error: Finding): string[] {
  const schema: Composed | undefined = error.parentSchema;
  const parts = [schema, ...(schema?.allOf ?? [])];
  return parts.flatMap((part) => Object.keys(part?.properties ?? {}));
}

/** Names that a misspelt one is compared with: a client's schema may know thousands. */
const MAX_CANDIDATES = 100;

/** The known name nearest to a misspelt one, when it is near enough to be what was meant. */
function closest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 64) return undefined;
  const allowed = Math.max(2, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = allowed + 1;
  const near = known.filter((candidate) => Math.abs(candidate.length - name.length) <= allowed);
  for (const candidate of near.slice(0, MAX_CANDIDATES)) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1;
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + change,
      );
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

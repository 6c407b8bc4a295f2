import type { Json, JsonObject } from '../../json/json.ts';
import type { Pattern } from '../pattern/pattern.ts';
import { type Check, report, type Run, type Schema } from './evaluate.ts';
import type { Shape } from './shapes.ts';

/** One keyword of JSON Schema: what its value must look like, and how it is made into a question about an instance. */
export interface Keyword {
  readonly shape: Shape;
  /** Undefined when it asks nothing. */
  make(value: Json, site: Site): Check | undefined;
}

export type Keywords = Readonly<Record<string, Keyword>>;

/** Where a keyword stands, and what it may need to be made ready. */
export interface Site {
  readonly keyword: string;
  /** The schema it is a member of. */
  readonly schema: JsonObject;
  /** JSON Pointer of the keyword, with a leading #. */
  readonly path: string;
  /** The subschema at `steps` below the keyword. */
  subschema(value: Json, ...steps: (string | number)[]): Schema;
  /** The subschema that another keyword next to this one holds, if there is one. */
  sibling(keyword: string): Schema | undefined;
  pattern(source: string): Pattern;
  reference(pointer: string): Schema;
}

/** Notes what is wrong, and says no. */
export function wrong(
  { keyword, path, schema }: Site,
  at: string,
  run: Run,
  params: Readonly<Record<string, unknown>>,
  message?: string,
): false {
  report(run, {
    instancePath: at,
    schemaPath: path,
    keyword,
    params,
    parentSchema: schema,
    ...(message !== undefined && { message }),
  });
  return false;
}

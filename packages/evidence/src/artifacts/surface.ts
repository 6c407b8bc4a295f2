import { type ByteBuffer, byteBuffer } from '../bytes/byte-buffer.ts';
import type { JsonHandler } from '../bytes/json-parser.ts';
import { EMPTY_TABLE, type ValueList, type ValueTable, valueList } from '../bytes/value-table.ts';
import { toText } from '../bytes/wtf8.ts';
import { type PathRule, pathRule } from '../contract/canonical-path.ts';
import { READABLE } from '../contract/problem.ts';
import {
  CATEGORIES,
  type Category,
  SURFACE_FILE,
  SURFACE_SCHEMA,
  UNBINDING_KEYS,
} from '../contract/vocabulary.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';
import { checkIdentity, duplicateKey, jsonSink, notJson } from './json-document.ts';

export interface PathCounts {
  /** Values that began with the declared prefix. */
  readonly matched: number;
  /** Values that are the work dir itself, written without the slash at the end. */
  readonly withoutSlash: number;
  /** Values that begin with the placeholder as they were observed. */
  readonly literal: number;
  readonly total: number;
}

export interface Surface {
  readonly runId: string | undefined;
  /** As observed. Paths are empty when only the canonical ones were asked for. */
  readonly raw: Readonly<Record<Category, ValueTable>>;
  /** Paths after the prefix rule; undefined when no prefix was declared. */
  readonly canonicalPaths: ValueTable | undefined;
  readonly pathCounts: PathCounts;
}

export interface SurfaceOptions {
  readonly workDirPrefix: string | undefined;
  readonly keepRawPaths: boolean;
  /** Bytes of the file, when known: the arena is made once. */
  readonly size: number;
}

type Text = string | null | undefined; // null: there, but not a string

/** Values go from the file into their table without a string in between; nothing else of the file is kept. */
export function surfaceSink(
  options: SurfaceOptions,
  report: Report,
  done: (surface: Surface) => void,
): ArtifactSink {
  const handler = surfaceHandler(options, report);
  return jsonSink(SURFACE_FILE, handler, report, () => {
    const surface = handler.finish();
    if (surface !== undefined) done(surface);
  });
}

function surfaceHandler(
  options: SurfaceOptions,
  report: Report,
): JsonHandler & { finish(): Surface | undefined } {
  const rule: PathRule | undefined =
    options.workDirPrefix === undefined ? undefined : pathRule(options.workDirPrefix);
  const canonical = rule === undefined ? undefined : valueList(options.size + 64);
  const lists = new Map<Category, ValueList>();
  const wrong = new Map<Category, string>();
  const seen = new Set<string>();
  const scratch = byteBuffer();
  const head = { schema: undefined as Text, run_id: undefined as Text };
  let depth = 0;
  let isObject = false;
  let key = '';
  let category: Category | undefined; // the array that is open
  let target: ValueList | undefined; // where its values go first
  let index = 0;
  let isLeadTaken = false; // of the string that is open: it is canonical already

  /** Any value but a string at the top or in a category. */
  function other(kind: string): void {
    if (depth === 1 && isObject) member(kind);
    else if (depth === 2 && category !== undefined) {
      if (!wrong.has(category)) wrong.set(category, `${kind} at index ${index}`);
      index += 1;
    }
  }

  function member(kind: string): void {
    if (key === 'schema' || key === 'run_id') head[key] = null;
    const named = CATEGORIES.find((name) => name === key);
    if (named !== undefined) wrong.set(named, kind);
  }

  function openCategory(): void {
    const named = CATEGORIES.find((name) => name === key);
    if (depth !== 1 || !isObject || named === undefined) return other('an array');
    category = named;
    index = 0;
    // Only one of the two path arenas is needed unless both were asked for.
    target =
      named === 'filesystem_paths' && canonical !== undefined && !options.keepRawPaths
        ? canonical
        : valueList(named === 'filesystem_paths' ? options.size + 64 : 1024);
    lists.set(named, target);
  }

  function keep(text: ByteBuffer, start: number): void {
    index += 1;
    if (target === undefined) return;
    if (category === 'filesystem_paths' && rule !== undefined && canonical !== undefined) {
      if (isLeadTaken) isLeadTaken = false;
      else if (target === canonical) rule.apply(text, start);
      else rule.copy(text, start, canonical);
    }
    target.close(start);
  }

  return {
    startObject() {
      if (depth === 0) isObject = true;
      else other('an object');
      depth += 1;
    },
    endObject() {
      depth -= 1;
    },
    startArray() {
      openCategory();
      depth += 1;
    },
    endArray() {
      depth -= 1;
      if (depth === 1) category = undefined;
    },
    key(text, start) {
      if (depth !== 1) return;
      key = toText(text.bytes, start, text.length);
      if (seen.has(key)) report(duplicateKey(SURFACE_FILE, key));
      seen.add(key);
    },
    stringTarget() {
      if (depth === 2 && category !== undefined && target !== undefined) return target.text;
      scratch.length = 0;
      return scratch;
    },
    lead(chunk, from, to) {
      if (rule === undefined || target === undefined || target !== canonical) return 0;
      if (depth !== 2 || category !== 'filesystem_paths') return 0;
      const taken = rule.lead(chunk, from, to, target.text);
      isLeadTaken = taken > 0;
      return taken;
    },
    string(text, start) {
      if (depth === 2 && category !== undefined) return keep(text, start);
      if (depth !== 1 || !isObject) return;
      if (key === 'schema' || key === 'run_id') head[key] = toText(text.bytes, start, text.length);
      else member('a string');
    },
    number: () => other('a number'),
    literal: (value) => other(String(value)),
    finish() {
      if (!isObject) {
        report({
          ...notJson(SURFACE_FILE, '', 'another value'),
          code: 'not_object',
          needed: 'a JSON object',
        });
        return undefined;
      }
      const runId = checkIdentity(
        { file: SURFACE_FILE, schema: SURFACE_SCHEMA },
        head.schema,
        head.run_id,
        report,
      );
      reportCategories(lists, wrong, report);
      reportHints(seen, report);
      const raw = Object.fromEntries(
        CATEGORIES.map((name) => {
          const list = lists.get(name);
          return [name, list === undefined || list === canonical ? EMPTY_TABLE : list.finish()];
        }),
      ) as Record<Category, ValueTable>;
      const pathCounts = rule?.counts() ?? { matched: 0, withoutSlash: 0, literal: 0, total: 0 };
      return { runId, raw, canonicalPaths: canonical?.finish(), pathCounts };
    },
  };
}

function reportCategories(
  lists: ReadonlyMap<Category, unknown>,
  wrong: ReadonlyMap<Category, string>,
  report: Report,
): void {
  for (const category of CATEGORIES) {
    const found = wrong.get(category) ?? (lists.has(category) ? undefined : 'nothing');
    if (found === undefined) continue;
    report({
      code: 'category_not_strings',
      effect: 'failed',
      file: SURFACE_FILE,
      field: `/${category}`,
      found,
      needed: 'an array of strings',
      readable: 'The other categories of this run alone (show); no diff can be made from it.',
    });
  }
}

function reportHints(keys: ReadonlySet<string>, report: Report): void {
  for (const key of UNBINDING_KEYS) {
    if (!keys.has(key)) continue;
    report({
      code: 'per_binding_hint',
      effect: 'failed',
      file: SURFACE_FILE,
      field: `/${key}`,
      found: 'values attributed to bindings',
      needed: 'no such key: v0 has no versioned source for it',
      readable: READABLE.noDiff,
    });
  }
}

import { JsonError } from '../bytes/json-error.ts';
import { jsonParser } from '../bytes/json-parser.ts';
import { type JsonNode, jsonTree, quoteNode } from '../bytes/json-tree.ts';
import { SDK_EVENT_SCHEMA, SDK_FILE } from '../contract/vocabulary.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';

export interface SdkLayer {
  readonly name: string | null;
  readonly version: string | null;
  /** The run ids that v0 events carry, with the line of the first; a few at most. */
  readonly runIds: ReadonlyMap<string, number>;
  readonly events: number;
}

const LF = 0x0a;
const SDK_SCHEMA_STEM = SDK_EVENT_SCHEMA.slice(0, -1);
/** A file with a million broken lines gets one screen of problems, and constant memory. */
const MAX_LINE_PROBLEMS = 20;
const MAX_DISTINCT = 8;

/** Line by line, in constant memory. Lines end at LF and nowhere else: U+2028 or a bare CR is part of its line. */
export function sdkSink(report: Report, done: (layer: SdkLayer) => void): ArtifactSink {
  const tree = jsonTree(2);
  const parser = jsonParser(tree);
  const events = sdkEvents(report);
  let line = 1;
  let isBroken = false;
  let isEmpty = true;

  function feed(chunk: Uint8Array, from: number, to: number): void {
    if (isBroken) return parser.skip(to - from);
    guarded(() => parser.write(chunk, from, to));
  }

  function guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      isBroken = true;
      events.problem(
        'not_json',
        line,
        `${error.message} (byte ${error.offset})`,
        'one strict JSON object per line',
      );
    }
  }

  function endLine(): void {
    if (!isBroken)
      guarded(() => {
        if (parser.end()) events.take(tree.root(), tree.duplicates(), line);
      });
    isBroken = false;
    parser.reset();
    tree.clear();
    line += 1;
    isEmpty = true;
  }

  return {
    write(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
        feed(chunk, from, at);
        endLine();
        parser.skip(1);
        from = at + 1;
      }
      if (from < chunk.length) isEmpty = false;
      feed(chunk, from, chunk.length);
    },
    end() {
      if (!isEmpty) endLine();
      done(events.finish());
    },
  };
}

interface Collected {
  readonly names: Map<string, number>;
  readonly versions: Map<string, number>;
  readonly pairs: Map<string, readonly [string, string]>;
  readonly runIds: Map<string, number>;
}

function sdkEvents(report: Report) {
  const seen: Collected = { names: new Map(), versions: new Map(), pairs: new Map(), runIds: new Map() };
  let count = 0;
  let problems = 0;

  function problem(code: string, line: number, found: string, needed: string): void {
    problems += 1;
    if (problems > MAX_LINE_PROBLEMS) return;
    report(sdkProblem(code, `line ${line}`, found, needed));
  }

  function take(root: JsonNode | undefined, duplicates: readonly string[], line: number): void {
    if (!(root instanceof Map)) return problem('not_object', line, quoteNode(root), 'a JSON object');
    const event = root as ReadonlyMap<string, JsonNode>;
    for (const key of duplicates)
      problem('duplicate_key', line, `the key ${JSON.stringify(key)} twice`, 'each key once');
    const schema = event.get('schema');
    if (schema !== SDK_EVENT_SCHEMA) {
      if (typeof schema === 'string' && schema.startsWith(SDK_SCHEMA_STEM))
        problem(
          'newer_sdk_event',
          line,
          quoteNode(schema),
          `"${SDK_EVENT_SCHEMA}": newer events are not skipped`,
        );
      return;
    }
    count += 1;
    const runId = event.get('run_id');
    if (runId !== undefined && typeof runId !== 'string')
      problem('sdk_run_id_not_text', line, quoteNode(runId), "the run's id, as a string");
    remember(seen.runIds, runId, line);
    takeNames(event, line);
  }

  function takeNames(event: ReadonlyMap<string, JsonNode>, line: number): void {
    const name = event.get('sdk_name') ?? null;
    const version = event.get('sdk_version') ?? null;
    // Each on its own, so that a null next to a name cannot hide that the name differs.
    remember(seen.names, name, line);
    remember(seen.versions, version, line);
    if (name === null || version === null) return;
    if (!isText(name)) problem('sdk_name_not_text', line, quoteNode(name), 'sdk_name as a non-empty string');
    if (!isText(version))
      problem('sdk_version_not_text', line, quoteNode(version), 'sdk_version as a non-empty string');
    if (isText(name) && isText(version) && seen.pairs.size < MAX_DISTINCT)
      seen.pairs.set(JSON.stringify([name, version]), [name, version]);
  }

  function finish(): SdkLayer {
    if (problems > MAX_LINE_PROBLEMS) {
      const found = `${problems - MAX_LINE_PROBLEMS} more lines with problems`;
      report(sdkProblem('more_lines', 'the whole file', found, 'none'));
    }
    for (const [field, values] of [
      ['sdk_name', seen.names],
      ['sdk_version', seen.versions],
    ] as const) {
      if (values.size < 2) continue;
      const found = [...values].map(([value, line]) => `${JSON.stringify(value)} (line ${line})`).join(', ');
      report(sdkProblem('inconsistent_sdk', field, found, 'one value in all events of the run'));
    }
    const [pair] = seen.pairs.values();
    if (pair === undefined)
      report(
        sdkProblem(
          'no_sdk_metadata',
          'the whole file',
          `${count} v0 events, none with both`,
          'an event with both sdk_name and sdk_version',
        ),
      );
    const isOne = pair !== undefined && seen.names.size === 1 && seen.versions.size === 1;
    return {
      name: isOne ? pair[0] : null,
      version: isOne ? pair[1] : null,
      runIds: seen.runIds,
      events: count,
    };
  }

  return { take, problem, finish };
}

function isText(node: JsonNode): node is string {
  return typeof node === 'string' && node !== '';
}

/** Keeps the first line of each distinct non-empty text, up to a handful. */
function remember(values: Map<string, number>, node: JsonNode | undefined, line: number): void {
  if (node === undefined || !isText(node) || values.size >= MAX_DISTINCT || values.has(node)) return;
  values.set(node, line);
}

function sdkProblem(code: string, field: string, found: string, needed: string) {
  return {
    code,
    effect: 'failed',
    file: SDK_FILE,
    field,
    found,
    needed,
    readable: 'A capability diff, which does not use this file.',
    only: 'cross',
  } as const;
}

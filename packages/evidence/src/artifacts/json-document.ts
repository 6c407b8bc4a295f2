import { JsonError } from '../bytes/json-error.ts';
import { type JsonParser, type JsonHandler, jsonParser } from '../bytes/json-parser.ts';
import { type JsonNode, jsonTree, quoteNode } from '../bytes/json-tree.ts';
import { READABLE } from '../contract/problem.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';

/** What every JSON artifact must be, said in one place. */
export interface DocumentRules {
  readonly file: string;
  readonly schema: string;
}

/** Feeds a handler, and turns the first thing that is not JSON into a problem. */
export function jsonSink(file: string, handler: JsonHandler, report: Report, done: () => void): ArtifactSink {
  const parser = jsonParser(handler);
  let isBroken = false;

  function guarded(feed: (parser: JsonParser) => void): void {
    if (isBroken) return;
    try {
      feed(parser);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      isBroken = true;
      report(notJson(file, `byte ${error.offset}`, error.message));
    }
  }

  return {
    write: (chunk) => guarded(() => parser.write(chunk, 0, chunk.length)),
    end() {
      guarded(() => {
        if (!parser.end()) throw new JsonError(0, 'the file is empty');
        done();
      });
    },
  };
}

export function notJson(file: string, field: string, found: string) {
  return {
    code: 'not_json',
    effect: 'failed',
    file,
    field,
    found,
    needed: 'strict JSON in UTF-8',
    readable: READABLE.nothing,
  } as const;
}

/** Reads a whole document that must be an object. `keepDepth`: how deep its values are looked at. */
export function objectSink(
  rules: DocumentRules,
  keepDepth: number,
  report: Report,
  done: (object: ReadonlyMap<string, JsonNode>) => void,
): ArtifactSink {
  const tree = jsonTree(keepDepth);
  return jsonSink(rules.file, tree, report, () => {
    const root = tree.root();
    if (!(root instanceof Map)) {
      report({ ...notJson(rules.file, '', quoteNode(root)), code: 'not_object', needed: 'a JSON object' });
      return;
    }
    for (const key of tree.duplicates()) report(duplicateKey(rules.file, key));
    done(root as ReadonlyMap<string, JsonNode>);
  });
}

export function duplicateKey(file: string, key: string) {
  return {
    code: 'duplicate_key',
    effect: 'failed',
    file,
    field: key,
    found: 'the key twice in one object',
    needed: 'each key once: which of two values counts is not defined',
    readable: READABLE.noDiff,
  } as const;
}

/** The schema string and the run id, which all artifacts share. Returns the run id when it is one. */
export function checkIdentity(
  rules: DocumentRules,
  schema: JsonNode | undefined,
  runId: JsonNode | undefined,
  report: Report,
): string | undefined {
  if (schema !== rules.schema) {
    report({
      code: 'wrong_schema',
      effect: 'failed',
      file: rules.file,
      field: '/schema',
      found: quoteNode(schema),
      needed: `"${rules.schema}" exactly; newer evidence is not read as v0`,
      readable: READABLE.nothing,
    });
  }
  if (typeof runId === 'string' && runId !== '') return runId;
  report({
    code: 'no_run_id',
    effect: 'failed',
    file: rules.file,
    field: '/run_id',
    found: quoteNode(runId),
    needed: 'a non-empty string',
    readable: READABLE.noDiff,
  });
  return undefined;
}

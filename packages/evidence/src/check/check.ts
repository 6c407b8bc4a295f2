import { asciiWriter } from '../bytes/ascii-writer.ts';
import { JsonError } from '../bytes/json-error.ts';
import { type JsonNode, parseJson, quoteNode } from '../bytes/json-tree.ts';
import { CAPABILITY_DIFF, CROSS_RUNTIME_DIFF, type Status } from '../contract/vocabulary.ts';
import { CAPABILITY_KEYS, checkCapability } from './check-capability.ts';
import { type CheckContext, checkContext, type DocumentProblem, type JsonMap } from './check-context.ts';
import { CROSS_KEYS, checkCross } from './check-cross.ts';
import { checkStatus } from './check-status.ts';

export interface CheckReport {
  readonly contract: 'capability' | 'cross' | undefined;
  readonly status: Status | undefined;
  readonly problems: readonly DocumentProblem[];
}

/** A diff has five levels. What lies deeper is wrong anyway and must not cost call stack. */
const MAX_DEPTH = 8;

/**
 * Whether a document is a v0 diff, from any producer: shape, key order, closed vocabularies, order and disjointness of
 * sets, a status that follows from the preconditions, and the exact bytes. Stricter than the published schema.
 */
export function check(bytes: Uint8Array): CheckReport {
  const context = checkContext();
  const root = parseDocument(bytes, context);
  if (root === undefined) return { contract: undefined, status: undefined, problems: context.problems };
  const contract = contractOf(root, context);
  if (contract === undefined) return { contract, status: undefined, problems: context.problems };
  const document = context.object('', root, contract === 'cross' ? CROSS_KEYS : CAPABILITY_KEYS) as JsonMap;
  const status = checkStatus(context, document.get('status'));
  for (const key of ['base_run_id', 'head_run_id']) {
    const runId = document.get(key);
    if (status !== 'failed' || typeof runId !== 'string') context.nonEmptyText(`/${key}`, runId);
  }
  if (contract === 'cross') checkCross(context, document, status);
  else checkCapability(context, document, status);
  const at = firstDifference(bytes, root);
  const needed = 'two spaces, ASCII with \\u escapes in lower case, one newline at the end';
  if (at !== undefined) context.report(`byte ${at}`, 'another layout or escaping', needed);
  return { contract, status, problems: context.problems };
}

function parseDocument(bytes: Uint8Array, context: CheckContext): JsonNode | undefined {
  try {
    const { root, duplicates } = parseJson(bytes, MAX_DEPTH);
    for (const key of duplicates) context.report('', `the key ${quoteNode(key)} twice`, 'each key once');
    return root;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    context.report(`byte ${error.offset}`, error.message, 'strict JSON in UTF-8');
    return undefined;
  }
}

function contractOf(root: JsonNode, context: CheckContext): CheckReport['contract'] {
  const schema = root instanceof Map ? (root as JsonMap).get('schema') : undefined;
  if (schema === CROSS_RUNTIME_DIFF) return 'cross';
  if (schema === CAPABILITY_DIFF) return 'capability';
  const isObject = root instanceof Map;
  const needed = `${CAPABILITY_DIFF} or ${CROSS_RUNTIME_DIFF}`;
  context.report(isObject ? '/schema' : '', quoteNode(isObject ? schema : root), needed);
  return undefined;
}

/** Where the bytes leave the one layout that the contract has. */
function firstDifference(bytes: Uint8Array, root: JsonNode): number | undefined {
  let at = 0;
  let difference: number | undefined;
  const writer = asciiWriter((piece) => {
    for (let index = 0; difference === undefined && index < piece.length; index += 1) {
      if (piece[index] !== bytes[at + index]) difference = at + index;
    }
    at += piece.length;
  });
  layout(root, '\n');
  writer.raw('\n');
  writer.flush();
  return difference ?? (at === bytes.length ? undefined : at);

  function layout(node: JsonNode, margin: string): void {
    if (typeof node === 'string') return writer.text(node);
    if (node === null || typeof node !== 'object') return writer.raw(String(node));
    const isList = Array.isArray(node);
    const entries = isList ? node.map((item: JsonNode) => ['', item] as const) : [...(node as JsonMap)];
    const [open, close] = isList ? '[]' : '{}';
    if (entries.length === 0) return writer.raw(`${open}${close}`);
    entries.forEach(([key, item], index) => {
      writer.raw(index === 0 ? `${open}${margin}  ` : `,${margin}  `);
      if (!isList) {
        writer.text(key);
        writer.raw(': ');
      }
      layout(item, `${margin}  `);
    });
    writer.raw(`${margin}${close}`);
  }
}

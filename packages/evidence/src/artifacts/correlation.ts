import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { READABLE } from '../contract/problem.ts';
import { CORRELATION_FILE, CORRELATION_SCHEMA } from '../contract/vocabulary.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';
import { checkIdentity, objectSink } from './json-document.ts';

export interface Correlation {
  readonly runId: string | undefined;
  /** The report itself says clean and lists no ambiguity. Says nothing about bindings. */
  readonly isClean: boolean;
  /** At least one binding, and every one with a usable id. */
  readonly hasStableIds: boolean;
  /** Decision by tool call id; a missing decision is null. */
  readonly decisions: ReadonlyMap<string, string | null>;
  readonly ambiguities: readonly string[];
}

const RULES = { file: CORRELATION_FILE, schema: CORRELATION_SCHEMA };

export function correlationSink(report: Report, done: (correlation: Correlation) => void): ArtifactSink {
  return objectSink(RULES, 4, report, (fields) => {
    const runId = checkIdentity(RULES, fields.get('schema'), fields.get('run_id'), report);
    const isClean = checkStatus(fields, report);
    const bindings = readBindings(fields.get('bindings'), report);
    const listed = fields.get('ambiguities');
    const ambiguities = Array.isArray(listed) ? listed.filter((item) => typeof item === 'string') : [];
    done({ runId, isClean, ambiguities, ...bindings });
  });
}

function checkStatus(fields: ReadonlyMap<string, JsonNode>, report: Report): boolean {
  const status = fields.get('status');
  if (status !== 'clean') report(partial('/status', quoteNode(status), '"clean"'));
  const ambiguities = fields.get('ambiguities');
  const isEmpty = Array.isArray(ambiguities) && ambiguities.length === 0;
  if (!isEmpty) {
    const found = Array.isArray(ambiguities)
      ? ambiguities
          .map((item) => quoteNode(item as JsonNode))
          .slice(0, 5)
          .join(', ')
      : quoteNode(ambiguities);
    report(partial('/ambiguities', found, 'an empty array'));
  }
  return status === 'clean' && isEmpty;
}

type Bindings = Pick<Correlation, 'hasStableIds' | 'decisions'>;

function readBindings(bindings: JsonNode | undefined, report: Report): Bindings {
  const decisions = new Map<string, string | null>();
  if (!Array.isArray(bindings)) {
    report(broken('bindings_not_array', '/bindings', quoteNode(bindings), 'an array of objects'));
    return { hasStableIds: false, decisions };
  }
  let hasStableIds = bindings.length > 0;
  if (!hasStableIds) report(partial('/bindings', '[]', 'at least one binding'));
  const seen = new Map<string, number>();
  bindings.forEach((binding: JsonNode, index) => {
    const id = bindingId(binding, index, report);
    if (id === undefined) hasStableIds = false;
    checkDecision(binding, index, report);
    if (id === undefined) return;
    const first = seen.get(id);
    if (first !== undefined) report(sharedId(id, first, index));
    else seen.set(id, index);
    decisions.set(id, decisionOf(binding));
  });
  return { hasStableIds, decisions };
}

function bindingId(binding: JsonNode, index: number, report: Report): string | undefined {
  if (!(binding instanceof Map)) {
    report(broken('binding_not_object', `/bindings/${index}`, quoteNode(binding), 'an object'));
    return undefined;
  }
  const id: JsonNode | undefined = (binding as ReadonlyMap<string, JsonNode>).get('tool_call_id');
  if (typeof id === 'string' && id !== '') return id;
  report(partial(`/bindings/${index}/tool_call_id`, quoteNode(id), 'a non-empty string'));
  return undefined;
}

function checkDecision(binding: JsonNode, index: number, report: Report): void {
  if (!(binding instanceof Map)) return;
  const decision: JsonNode | undefined = (binding as ReadonlyMap<string, JsonNode>).get('policy_decision');
  if (decision === undefined || decision === null || typeof decision === 'string') return;
  const place = `/bindings/${index}/policy_decision`;
  report({
    ...broken('decision_not_text', place, quoteNode(decision), 'a string or null'),
    only: 'capability',
  });
}

function decisionOf(binding: JsonNode): string | null {
  const decision: unknown = binding instanceof Map ? binding.get('policy_decision') : null;
  return typeof decision === 'string' ? decision : null;
}

function sharedId(id: string, first: number, second: number) {
  const found = `${quoteNode(id)}, also that of binding ${first}: two policy decisions share one call`;
  return broken('duplicate_tool_call_id', `/bindings/${second}/tool_call_id`, found, 'an id of its own');
}

function partial(field: string, found: string, needed: string) {
  return {
    code: 'correlation_not_clean',
    effect: 'partial:correlation',
    file: CORRELATION_FILE,
    field,
    found,
    needed,
    readable: READABLE.correlation,
  } as const;
}

function broken(code: string, field: string, found: string, needed: string) {
  const place = { file: CORRELATION_FILE, field };
  return { code, effect: 'failed', ...place, found, needed, readable: READABLE.noDiff } as const;
}

import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { STATUSES, type Status } from '../contract/vocabulary.ts';
import type { CheckContext, JsonMap } from './check-context.ts';

export const PRECONDITIONS = [
  'base_health_clean',
  'head_health_clean',
  'base_correlation_clean',
  'head_correlation_clean',
  'stable_tool_call_ids_required',
  'stable_tool_call_ids_present',
] as const;

export function checkStatus(context: CheckContext, node: JsonNode | undefined): Status | undefined {
  const status = STATUSES.find((known) => known === node);
  if (status === undefined) {
    const needed = `one of ${STATUSES.join(', ')}${node === 'partial:unbound' ? '; partial:unbound is reserved' : ''}`;
    context.report('/status', quoteNode(node), needed);
  }
  return status;
}

/** The booleans, and that they lead to the status that the document claims. */
export function checkPreconditions(
  context: CheckContext,
  node: JsonNode | undefined,
  status: Status | undefined,
  keys: readonly string[],
): void {
  const object = context.object('/preconditions', node, keys);
  if (object === undefined) return;
  for (const key of keys)
    if (object.has(key) && typeof object.get(key) !== 'boolean')
      context.report(`/preconditions/${key}`, quoteNode(object.get(key)), 'true or false');
  context.exactly(
    '/preconditions/stable_tool_call_ids_required',
    object.get('stable_tool_call_ids_required'),
    true,
  );
  if (keys.includes('runtimes_distinct') && status !== 'failed' && status !== undefined)
    context.exactly('/preconditions/runtimes_distinct', object.get('runtimes_distinct'), true);
  if (status === undefined || status === 'failed') return;
  const meant = meantBy(object);
  if (meant !== status)
    context.report('/status', quoteNode(status), `${quoteNode(meant)}, by its own preconditions`);
}

function meantBy(preconditions: JsonMap): Status {
  const hold = (...keys: string[]): boolean => keys.every((key) => preconditions.get(key) === true);
  if (!hold('base_health_clean', 'head_health_clean')) return 'partial:health';
  const isCorrelated = hold(
    'base_correlation_clean',
    'head_correlation_clean',
    'stable_tool_call_ids_present',
  );
  return isCorrelated ? 'clean' : 'partial:correlation';
}

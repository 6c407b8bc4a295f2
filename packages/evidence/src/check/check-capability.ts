import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { compareText } from '../bytes/wtf8.ts';
import { CAPABILITY_SCOPE, CATEGORIES, IDEMPOTENT_NOTE, type Status } from '../contract/vocabulary.ts';
import type { CheckContext, JsonMap } from './check-context.ts';
import { checkConstants } from './check-cross.ts';
import { checkParts, checkSurface, checkUnbound, type SurfaceParts } from './check-sets.ts';
import { checkPreconditions, PRECONDITIONS } from './check-status.ts';

export const CAPABILITY_KEYS = [
  'schema',
  'base_run_id',
  'head_run_id',
  'status',
  'preconditions',
  'scope',
  'surface',
  'binding_ids',
  'policy_outcomes',
  'unbound',
  'ambiguities',
  'notes',
] as const;

type Parts = ReadonlyMap<string, readonly string[]>;

export function checkCapability(context: CheckContext, document: JsonMap, status: Status | undefined): void {
  const isFailed = status === 'failed';
  checkPreconditions(context, document.get('preconditions'), status, PRECONDITIONS);
  checkConstants(context, '/scope', document.get('scope'), CAPABILITY_SCOPE);
  const surface = checkSurface(context, document.get('surface'), isFailed);
  const ids = checkParts(context, '/binding_ids', document.get('binding_ids'));
  const changed = checkOutcomes(context, document.get('policy_outcomes'), ids);
  if (isFailed && (changed > 0 || [...ids.values()].some((texts) => texts.length > 0)))
    context.report('/binding_ids', 'a comparison', 'none: a failed diff compares nothing');
  checkUnbound(context, document.get('unbound'));
  context.texts('/ambiguities', document.get('ambiguities'), []);
  const isSame = isUnchanged(ids) && changed === 0;
  const isIdentical = isSame && CATEGORIES.every((category) => isUnchanged(surface.get(category)));
  context.texts('/notes', document.get('notes'), status === 'clean' && isIdentical ? [IDEMPOTENT_NOTE] : []);
  checkPolicy(context, status, surface, isSame);
}

function isUnchanged(parts: Parts | undefined): boolean {
  return (parts?.get('added') ?? []).length === 0 && (parts?.get('removed') ?? []).length === 0;
}

/** Returns how many changes there are. */
function checkOutcomes(context: CheckContext, node: JsonNode | undefined, ids: Parts): number {
  const changed = context.object('/policy_outcomes', node, ['changed'])?.get('changed');
  if (!Array.isArray(changed)) {
    context.report('/policy_outcomes/changed', quoteNode(changed), 'an array');
    return 0;
  }
  const shared = new Set(ids.get('unchanged'));
  let before: string | undefined;
  changed.forEach((item: JsonNode, index) => {
    const place = `/policy_outcomes/changed/${index}`;
    const change = context.object(place, item, ['tool_call_id', 'base', 'head']);
    if (change === undefined) return;
    const id = context.nonEmptyText(`${place}/tool_call_id`, change.get('tool_call_id'));
    if (id !== undefined && !shared.has(id))
      context.report(`${place}/tool_call_id`, quoteNode(id), 'an id of binding_ids/unchanged');
    if (id !== undefined && before !== undefined && compareText(before, id) >= 0)
      context.report(`${place}/tool_call_id`, quoteNode(id), 'code point order, each id once');
    before = id;
    checkDecisions(context, place, change);
  });
  return changed.length;
}

function checkDecisions(context: CheckContext, place: string, change: JsonMap): void {
  for (const side of ['base', 'head']) {
    const decision = change.get(side);
    if (decision !== null && typeof decision !== 'string')
      context.report(`${place}/${side}`, quoteNode(decision), 'a string or null');
  }
  if (change.get('base') === change.get('head'))
    context.report(place, 'the same decision on both sides', 'a decision that changed');
}

function checkPolicy(
  context: CheckContext,
  status: Status | undefined,
  surface: SurfaceParts,
  isSame: boolean,
): void {
  if (status === 'clean' && isSame && !isUnchanged(surface.get('policy_decisions')))
    context.report(
      '/surface/policy_decisions',
      'changes, with the same calls and outcomes',
      'no clean status for it',
    );
}

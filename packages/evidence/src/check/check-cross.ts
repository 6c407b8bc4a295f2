import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { isRuntime } from '../contract/declared.ts';
import {
  CANONICALIZATION,
  CROSS_FAILED_NOTES,
  CROSS_NOTES,
  CROSS_SCOPE,
  NON_CLAIMS,
  OUT_OF_SCOPE,
  RUNTIMES,
  SIDE_BAND,
  type Status,
} from '../contract/vocabulary.ts';
import type { CheckContext, JsonMap } from './check-context.ts';
import { checkSurface, checkUnbound } from './check-sets.ts';
import { checkPreconditions, PRECONDITIONS } from './check-status.ts';

export const CROSS_KEYS = [
  'schema',
  'base_run_id',
  'head_run_id',
  'base_runtime',
  'head_runtime',
  'status',
  'preconditions',
  'scope',
  'canonicalization',
  'surface',
  'binding_ids',
  'policy_outcomes',
  'sdk_metadata',
  'unbound',
  'non_claims',
  'ambiguities',
  'notes',
] as const;

export function checkCross(context: CheckContext, document: JsonMap, status: Status | undefined): void {
  const isFailed = status === 'failed';
  checkRuntimes(context, document, isFailed);
  checkPreconditions(context, document.get('preconditions'), status, [...PRECONDITIONS, 'runtimes_distinct']);
  checkConstants(context, '/scope', document.get('scope'), CROSS_SCOPE);
  checkConstants(context, '/canonicalization', document.get('canonicalization'), CANONICALIZATION);
  checkSurface(context, document.get('surface'), isFailed);
  for (const key of ['binding_ids', 'policy_outcomes'])
    checkConstants(context, `/${key}`, document.get(key), { comparison: OUT_OF_SCOPE });
  checkSdk(context, document.get('sdk_metadata'), isFailed);
  checkUnbound(context, document.get('unbound'));
  context.texts('/non_claims', document.get('non_claims'), NON_CLAIMS);
  context.texts('/ambiguities', document.get('ambiguities'), []);
  context.texts('/notes', document.get('notes'), isFailed ? CROSS_FAILED_NOTES : CROSS_NOTES);
}

/** A failed document carries what was declared, whatever that was. */
function checkRuntimes(context: CheckContext, document: JsonMap, isFailed: boolean): void {
  const [base, head] = [document.get('base_runtime'), document.get('head_runtime')];
  for (const [key, found] of [
    ['base_runtime', base],
    ['head_runtime', head],
  ] as const) {
    const isGood = typeof found === 'string' && (isFailed || isRuntime(found));
    if (!isGood)
      context.report(`/${key}`, quoteNode(found), isFailed ? 'a string' : `one of ${RUNTIMES.join(', ')}`);
  }
  if (!isFailed && base === head && typeof base === 'string')
    context.report('/head_runtime', quoteNode(head), 'another runtime than the base');
}

export function checkConstants(
  context: CheckContext,
  place: string,
  node: JsonNode | undefined,
  wanted: Readonly<Record<string, string | boolean>>,
): void {
  const object = context.object(place, node, Object.keys(wanted));
  if (object === undefined) return;
  for (const [key, value] of Object.entries(wanted))
    if (object.has(key)) context.exactly(`${place}/${key}`, object.get(key), value);
}

function checkSdk(context: CheckContext, node: JsonNode | undefined, isFailed: boolean): void {
  const sdk = context.object('/sdk_metadata', node, ['comparison', 'base', 'head']);
  if (sdk === undefined) return;
  context.exactly('/sdk_metadata/comparison', sdk.get('comparison'), SIDE_BAND);
  for (const side of ['base', 'head']) {
    const place = `/sdk_metadata/${side}`;
    const found = context.object(place, sdk.get(side), ['sdk_name', 'sdk_version']);
    for (const key of found === undefined ? [] : ['sdk_name', 'sdk_version']) {
      const value = found?.get(key);
      if (value !== null || !isFailed) context.nonEmptyText(`${place}/${key}`, value);
    }
  }
}

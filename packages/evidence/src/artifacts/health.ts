import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { READABLE } from '../contract/problem.ts';
import { HEALTH_FILE, HEALTH_SCHEMA } from '../contract/vocabulary.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';
import { checkIdentity, objectSink } from './json-document.ts';

export interface Health {
  readonly runId: string | undefined;
  readonly isClean: boolean;
  /** Every top-level value as found, for `show`. */
  readonly fields: ReadonlyMap<string, JsonNode>;
}

const RULES = { file: HEALTH_FILE, schema: HEALTH_SCHEMA };

/** Field, the only clean value, and what may be read when it is another. */
const CLEAN_VALUES = [
  ['kernel_layer', 'complete', READABLE.drops],
  ['ringbuf_drops', 0, READABLE.drops],
  [
    'policy_layer',
    'present',
    'Paths, endpoints and execs as observed. Tools and policy decisions were not captured.',
  ],
  ['sdk_layer', 'self_reported', 'The surface sets as observed. What the SDK itself reported is missing.'],
  ['cgroup_correlation', 'clean', READABLE.health],
] as const;

/** Only `self_reported` evidence without loss is clean. Anything missing, unknown or of another type is not. */
export function healthSink(report: Report, done: (health: Health) => void): ArtifactSink {
  return objectSink(RULES, 3, report, (fields) => {
    const runId = checkIdentity(RULES, fields.get('schema'), fields.get('run_id'), report);
    let isClean = fields.get('schema') === HEALTH_SCHEMA;
    for (const [field, clean, readable] of CLEAN_VALUES) {
      const found = fields.get(field);
      if (found === clean) continue; // `-0 === 0`; booleans and strings are never zero
      isClean = false;
      report(notClean(field, quoteNode(found), JSON.stringify(clean), readable));
    }
    if (breaksPlatformRule(fields)) {
      isClean = false;
      const found = `${quoteNode(fields.get('platform'))} with kernel_layer ${quoteNode(fields.get('kernel_layer'))}`;
      report(notClean('platform', found, '"linux", or kernel_layer "absent"', READABLE.health));
    }
    noteOrigin(fields, report);
    done({ runId, isClean, fields });
  });
}

/** Only Linux has a kernel layer. A file without the field is tolerated: early evidence lacks it. */
function breaksPlatformRule(fields: ReadonlyMap<string, JsonNode>): boolean {
  const platform = fields.get('platform');
  return platform !== undefined && platform !== 'linux' && fields.get('kernel_layer') !== 'absent';
}

function noteOrigin(fields: ReadonlyMap<string, JsonNode>, report: Report): void {
  const origin = fields.get('capture_origin');
  if (origin !== undefined && origin !== 'own')
    report(note('capture_origin', quoteNode(origin), 'no value; the contracts do not look at it'));
  const scope = fields.get('network_endpoint_claim_scope');
  if (scope === 'diagnostic_only')
    report(
      note('network_endpoint_claim_scope', '"diagnostic_only"', 'nothing; endpoints vary from run to run'),
    );
  const redaction = fields.get('redaction');
  if (redaction instanceof Map && redaction.get('mode') === 'disabled_unsafe')
    report(note('redaction/mode', '"disabled_unsafe"', 'nothing; values may hold secrets in clear'));
}

function note(field: string, found: string, needed: string) {
  const place = { file: HEALTH_FILE, field: `/${field}` };
  return { code: 'health_note', effect: 'note', ...place, found, needed, readable: READABLE.all } as const;
}

function notClean(field: string, found: string, needed: string, readable: string) {
  const place = { file: HEALTH_FILE, field: `/${field}` };
  return { code: 'health_not_clean', effect: 'partial:health', ...place, found, needed, readable } as const;
}

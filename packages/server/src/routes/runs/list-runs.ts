import type { RunCounts, RunListFilter, RunStatus } from '@weft/engine';
import { HostError, RUN_BUCKETS, RUN_STATUSES, type SnapshotStatus, toIso } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { listParam, type Query, queryOf, textParam, timeParam } from '../../http/query.ts';
import { untilLeft } from '../../http/until-left.ts';
import { pageOf } from '../page.ts';

/** Lists and explanations, which the protocol does not have. */
export const listRunRoutes: Routes = (serve, context) => {
  serve('listRuns', async (request, reply) => {
    const filter = filterOf(queryOf(request));
    const { rows, nextCursor } = await context.host.runs.list(
      callerOf(request),
      filter,
      pageOf(request),
      untilLeft(reply),
    );
    return sendJson(reply, 200, JSON.stringify({ runs: rows, nextCursor }));
  });

  serve('countRuns', async (request, reply) => {
    const query = queryOf(request);
    const bucket = bucketOf(query);
    const { since, until, status: asked, ...filter } = spanOf(query, bucket, Date.now());
    const status = asked?.map(countedStatus);
    const { counts, countedSince } = await context.host.runs.counts(
      callerOf(request),
      { ...filter, since, until, ...(status === undefined ? {} : { status }) },
      RUN_BUCKETS[bucket],
    );
    return sendJson(
      reply,
      200,
      JSON.stringify({
        bucket,
        since: toIso(since),
        until: toIso(until),
        ...(countedSince !== undefined && { countedSince: toIso(countedSince) }),
        buckets: bucketsOf(counts),
      }),
    );
  });

  serve('explainRun', { ofRun: true }, async (request, reply) => {
    const explanation = await context.host.runs.explain(callerOf(request), pathParam(request, 'runId'));
    if (explanation === undefined) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify(explanation));
  });

  serve('releaseRun', { ofRun: true }, async (request, reply) => {
    const runId = pathParam(request, 'runId');
    if (!(await context.host.runs.release(callerOf(request), runId))) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify({ runId, released: true }));
  });
};

type Bucket = keyof typeof RUN_BUCKETS;

const MOST_BUCKETS = 1_000;

function bucketOf(query: Query): Bucket {
  const text = textParam(query, 'bucket');
  const names = Object.keys(RUN_BUCKETS) as Bucket[];
  const bucket = names.find((name) => name === text);
  if (bucket !== undefined) return bucket;
  throw new HostError('validation_error', `The parameter "bucket" must be one of ${names.join(', ')}.`, {
    field: 'bucket',
    allowed: names,
  });
}

/** Of a bounded number of buckets, so that the answer is bounded too. */
function spanOf(
  query: Query,
  bucket: Bucket,
  now: number,
): RunListFilter & { readonly since: number; readonly until: number } {
  const filter = filterOf(query);
  // The end is exclusive, and a run may have been created in this very millisecond.
  const { since, until = now + 1 } = filter;
  if (since === undefined)
    throw new HostError('validation_error', 'The parameter "since" is needed to count runs.', {
      field: 'since',
    });
  if (until - since > MOST_BUCKETS * RUN_BUCKETS[bucket])
    throw new HostError(
      'validation_error',
      `There are more than ${MOST_BUCKETS} buckets of ${bucket} between "since" and "until"; use a larger "bucket" or a later "since".`,
      { field: 'bucket', maxBuckets: MOST_BUCKETS },
    );
  return { ...filter, since, until };
}

/** A cancel that waits is nothing that is stored. */
function countedStatus(status: SnapshotStatus): RunStatus {
  if (status !== 'cancelling') return status;
  throw new HostError('validation_error', 'Runs cannot be counted by the status "cancelling".', {
    field: 'status',
  });
}

function bucketsOf(counts: RunCounts['counts']): object[] {
  const buckets = new Map<number, Record<string, number>>();
  for (const { at, status, count } of counts) buckets.set(at, { ...buckets.get(at), [status]: count });
  return [...buckets].sort(([a], [b]) => a - b).map(([at, each]) => ({ at: toIso(at), counts: each }));
}

/** With the hyphens of an id, or without any. */
function idPrefixParam(query: Query): string | undefined {
  const text = textParam(query, 'q')?.toLowerCase();
  if (text === undefined) return undefined;
  const digits = text.replaceAll('-', '');
  const whole = digits.padEnd(32, '0').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  if (/^[0-9a-f]{1,32}$/.test(digits) && (text === digits || whole.startsWith(text))) return digits;
  throw new HostError('validation_error', 'The parameter "q" must be how the id of a run begins.', {
    field: 'q',
  });
}

function filterOf(query: Query): RunListFilter {
  const errorCode = textParam(query, 'errorCode');
  const idPrefix = idPrefixParam(query);
  const status = listParam(query, 'status')?.map(knownStatus);
  const workflowId = textParam(query, 'workflowId');
  const tag = textParam(query, 'tag');
  const source = textParam(query, 'source');
  const since = timeParam(query, 'since');
  const until = timeParam(query, 'until');
  const quarantined = textParam(query, 'quarantined');
  if (quarantined !== undefined && quarantined !== 'true')
    throw new HostError('validation_error', '"quarantined" can only be true.', { field: 'quarantined' });
  return {
    ...(quarantined === undefined ? {} : { quarantined: true }),
    ...(status === undefined ? {} : { status }),
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(tag === undefined ? {} : { tag }),
    ...(source === undefined ? {} : { source }),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(idPrefix === undefined ? {} : { idPrefix }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

function knownStatus(name: string): SnapshotStatus {
  const status = RUN_STATUSES.find((known) => known === name);
  if (status !== undefined) return status;
  throw new HostError('validation_error', `"status" must be one of ${RUN_STATUSES.join(', ')}.`, {
    field: 'status',
    allowed: [...RUN_STATUSES],
  });
}

import type { Span } from '@weft/protocol';
import { toNumber, toText } from '../../core/fold/to-plain.ts';
import { createSpanProjection, spansOf } from '../../core/bundle/spans.ts';
import { fromStored } from '../../core/fold/from-stored.ts';
import { type Fact, isTerminalEvent } from '../../model/run-event.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { RunLog } from '../../ports/store.ts';
import type { RunSpans, TelemetrySource } from '../../host/host.ts';

const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 1024 * 1024;

/** Reads a run's log page by page and projects it into spans; no more of it than one page is in memory. */
export function createRunSpans(store: RunLog): TelemetrySource['runSpans'] {
  async function sourceOf(record: CreationRecord): Promise<Pick<RunSpans, 'source'>> {
    if (record.fork === undefined) return {};
    const row = await store.readRun(record.fork.sourceRunId, record.tenant);
    const run = row === undefined ? undefined : spansOf(row.record, [])[0];
    return run === undefined ? {} : { source: { traceId: run.traceId, spanId: run.spanId } };
  }

  return async (runId, limit) => {
    const row = await store.readRun(runId, undefined);
    if (row === undefined) return undefined;
    const { record } = row;
    const projection = createSpanProjection(record);
    let breach: Span['attributes'] = {};
    let seq = record.fork?.fromSeq ?? 0;
    for (let isOver = false; !isOver; ) {
      const page = await store.readEvents(runId, seq, PAGE_EVENTS, PAGE_BYTES);
      for (const stored of page) {
        const event = fromStored(stored, runId);
        projection.see(event);
        if (event.type === 'cap.breached') breach = breachOf(event);
      }
      const last = page.at(-1);
      isOver = last === undefined || isTerminalEvent(last.type);
      seq = (last?.seq ?? seq) + 1;
    }
    const all = projection.spans();
    const [run, ...rest] = all.slice(0, limit);
    return {
      record,
      spans: run === undefined ? [] : [{ ...run, attributes: { ...run.attributes, ...breach } }, ...rest],
      dropped: Math.max(all.length - limit, 0),
      ...(await sourceOf(record)),
    };
  };
}

function breachOf({ payload }: Fact<'cap.breached'>): Span['attributes'] {
  return {
    'openwop.cap_kind': toText(payload.kind),
    'openwop.cap_limit': toNumber(payload.limit),
    'openwop.cap_observed': toNumber(payload.observed),
  };
}

import type { Client, EventsPage, RunDocument, RunEventDocument, WorkflowDefinition } from '@weft/sdk';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import { type OpenedBundle, snapshotOf } from './bundle-file.ts';
import { type AlignedRow, alignedRows, stateChangesOf, type StrictDiff, strictDiff } from './comparison.ts';

/** A run of the host, or one that was carried here in a file. */
export interface Side {
  readonly run: RunDocument;
  readonly events: readonly RunEventDocument[];
  readonly definition: WorkflowDefinition | undefined;
  /** There are more events than are compared here. */
  readonly isCut: boolean;
}

export interface Compared {
  readonly a: Side;
  readonly b: Side;
  readonly strict: StrictDiff;
  readonly rows: readonly AlignedRow[];
}

/** What is compared in a page: of each run its first events, so many or of so much text. */
export const MAX_EVENTS = 20_000;
const MAX_CHARS = 64 * 1024 * 1024;
/** The host's own comparison may be as long as both logs. */
const MAX_DIFF_CHARS = 32 * 1024 * 1024;
const PAGE = 1_000;

/** Loads and compares, again and again while runs are active: what it has read of a log it does not ask for again. */
export interface Comparer {
  compare(chosen: readonly [string | OpenedBundle, string | OpenedBundle]): Promise<Compared>;
}

export function createComparer(client: Client | undefined): Comparer {
  const logs = new Map<string, ReadLog>();
  return {
    async compare(chosen) {
      const hasFile = chosen.some((each) => typeof each !== 'string');
      const load = async (each: string | OpenedBundle): Promise<Side> =>
        typeof each === 'string' ? await sideOf(client, each, logs, hasFile) : sideOfFile(each);
      const [a, b] = await Promise.all([load(chosen[0]), load(chosen[1])]);
      return { a, b, strict: await strictOf(client, a, b, hasFile), rows: alignedRows(a.events, b.events) };
    },
  };
}

function sideOfFile({ run, events, definition, isPartial }: OpenedBundle): Side {
  const shown = events.slice(0, MAX_EVENTS);
  return { run, events: shown, definition, isCut: isPartial || shown.length < events.length };
}

async function sideOf(
  client: Client | undefined,
  runId: string,
  logs: Map<string, ReadLog>,
  asBundle: boolean,
): Promise<Side> {
  if (client === undefined) throw new Error('To compare a run of this host, sign in first.');
  const run = await client.runs.get(runId);
  const definition = await definitionOf(client, run);
  // A file is masked where a log is not, so next to one a run is taken in the same form.
  if (asBundle) {
    const bundle = await client.bundles.get(runId);
    const events = bundle.events.slice(0, MAX_EVENTS).map((event) => ({ ...event, runId: run.runId }));
    const isCut = bundle.truncated === true || events.length < bundle.events.length;
    return { run: snapshotOf(bundle.run), events, definition, isCut };
  }
  const log = logs.get(runId) ?? { events: [], chars: 0, isCut: false };
  logs.set(runId, log);
  await readOn(client, runId, log);
  return { run, events: [...log.events], definition, isCut: log.isCut };
}

interface ReadLog {
  readonly events: RunEventDocument[];
  chars: number;
  isCut: boolean;
}

/** Reads a log up to the limits, and later what has come since. */
export async function readOn(client: Pick<Client, 'runs'>, runId: string, log: ReadLog): Promise<void> {
  const last = log.events.at(-1)?.sequence;
  if (last !== undefined) {
    if (!log.isCut) addTo(log, await client.runs.poll(runId, { after: last, timeoutSeconds: 1 }));
    return;
  }
  for await (const page of client.runs.log(runId).pages()) {
    addTo(log, page);
    // The last page of an active run is waited for in vain.
    if (log.isCut || page.events.length < PAGE) return;
  }
}

function addTo(log: ReadLog, { events }: EventsPage): void {
  for (const event of events) {
    // Two readers of the same log may have asked at the same time.
    if (event.sequence <= (log.events.at(-1)?.sequence ?? -1)) continue;
    log.chars += JSON.stringify(event).length;
    log.isCut ||= log.events.length >= MAX_EVENTS || log.chars > MAX_CHARS;
    if (log.isCut) return;
    log.events.push(event);
  }
}

/** Runs of one host are compared by it; files are compared here, by the same rules, and so are runs whose differences are too long. */
async function strictOf(client: Client | undefined, a: Side, b: Side, hasFile: boolean): Promise<StrictDiff> {
  if (hasFile || client === undefined || a.isCut || b.isCut) return await strictDiff(a, b);
  const pieces = await client.runs.diffText(a.run.runId, b.run.runId);
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > MAX_DIFF_CHARS) return await strictDiff(a, b);
  }
  const { divergedAtSeq, eventDiffs, stateDiff } = JSON.parse(text) as HostDiff;
  return { divergedAtSeq, differences: eventDiffs, stateChanges: stateChangesOf(stateDiff), isCut: false };
}

type HostDiff = Awaited<ReturnType<Client['runs']['diff']>>;

async function definitionOf(client: Client, run: RunDocument): Promise<WorkflowDefinition | undefined> {
  const extras = (run as JsonObject)['weft'];
  const version = isJsonObject(extras) ? extras['workflowVersion'] : undefined;
  // Its absence takes only the graph away.
  return await client.workflows.get(run.workflowId, typeof version === 'string' ? version : undefined).then(
    (found) => found,
    () => undefined,
  );
}

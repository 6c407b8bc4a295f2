import type { LogEvent, LogPages } from '@weft/engine';
import { ApiError, type Client, type RunDocument, type RunEventDocument, isTerminalStatus } from '@weft/sdk';
import { clientOf, findTarget, type Reachable, type TargetArgs } from '../../connecting/connection.ts';
import { resolveRunId } from '../../connecting/run-id.ts';
import { unusable } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { type BundleSide, fetchBundle, isBundle, openBundle } from './bundle-side.ts';
import { type RunSide, parseSide } from './side.ts';

/** A side with the run behind it: on its host, or carried in a bundle. */
export type OpenSide = LiveSide | BundleSide;

export interface LiveSide {
  /** The id of the run, or its URL where it is of a host that was named. */
  readonly label: string;
  readonly run: RunDocument;
  readonly client: Client;
  /** Base URL of its host. */
  readonly host: string;
  readonly key: string | undefined;
}

/** One side as typed, with the name of the variable for its own key. */
export interface AskedSide {
  readonly label: string;
  readonly keyVariable: string;
}

/** Finds the runs behind both sides; throws what their hosts say when there is none. Bundles ask nothing of any host. */
export async function openSides(
  io: Io,
  args: TargetArgs,
  asked: readonly [AskedSide, AskedSide],
): Promise<[OpenSide, OpenSide]> {
  const sides = [parseSide(asked[0].label), parseSide(asked[1].label)] as const;
  const inUse = await findTarget(io, args);
  const hosts = sides.flatMap((side) => (side.kind === 'run' ? [bare(side.host ?? inUse.url)] : []));
  const open = (side: (typeof sides)[number], from: AskedSide): Promise<OpenSide> => {
    if (side.kind === 'bundle') return openBundle(io.cwd, side.file);
    const host = bare(side.host ?? inUse.url);
    // The key in WEFT_API_KEY is meant for the host in use, or for the one host that both sides name.
    const mayHaveKey = (hosts.length === 2 && hosts[0] === hosts[1]) || host === bare(inUse.url);
    const urlFrom = side.host === undefined ? inUse.urlFrom : from.label;
    return openSide(io, args, { ...from, side, host, urlFrom, mayHaveKey });
  };
  return [await open(sides[0], asked[0]), await open(sides[1], asked[1])];
}

interface PlacedSide extends AskedSide {
  readonly side: RunSide;
  readonly host: string;
  readonly urlFrom: string;
  readonly mayHaveKey: boolean;
}

async function openSide(io: Io, args: TargetArgs, placed: PlacedSide): Promise<LiveSide> {
  const { label, side, host } = placed;
  const target = await targetOf(io, args, placed);
  const client = clientOf(target);
  const runId = await resolveRunId(client, side.runId);
  const run = await named(label, client.runs.get(runId));
  return { label: side.host === undefined ? run.runId : label, run, client, host, key: target.key };
}

async function targetOf(io: Io, args: TargetArgs, placed: PlacedSide): Promise<Reachable> {
  const own = io.env[placed.keyVariable];
  if (own !== undefined && own !== '') return { url: placed.host, urlFrom: placed.label, key: own };
  const target = { ...(await findTarget(io, { ...args, url: placed.host })), urlFrom: placed.urlFrom };
  if (target.keyFrom !== 'WEFT_API_KEY' || placed.mayHaveKey) return target;
  throw unusable(
    'key_missing',
    `${placed.host} is another host, so it is not sent the key in WEFT_API_KEY. Set ${placed.keyVariable} to a key of it.`,
  );
}

/** One spelling per host. */
function bare(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

/** Says which of the two is missing: the host's own message cannot. */
async function named<Value>(label: string, asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const { status, code, details, requestId } = error;
    throw new ApiError({ status, code, message: `${label}: ${error.message}`, details, requestId });
  }
}

/**
 * The protocol's document of two runs, in pieces. Runs of one host are compared by it. Otherwise, and where the host does not
 * compare, both logs are compared here, by the same rules: the bytes are the same.
 */
export async function compare(a: OpenSide, b: OpenSide): Promise<AsyncIterable<string>> {
  if (isOneHost(a, b)) {
    const answer = await askHost(a, b);
    if (answer !== undefined) return answer;
  }
  return compareHere(a, b);
}

function isOneHost(a: OpenSide, b: OpenSide): boolean {
  return !isBundle(a) && !isBundle(b) && a.host === b.host && a.key === b.key;
}

/**
 * Both sides in the form in which they can be compared. A bundle is masked where a log is not, and each host masks in its own
 * way, so unless both are runs of one host, both are taken as bundles. A host that makes none is taken by its log.
 */
export async function inOneForm(a: OpenSide, b: OpenSide): Promise<[OpenSide, OpenSide]> {
  if (isOneHost(a, b)) return [a, b];
  const carried = async (side: OpenSide): Promise<OpenSide> =>
    isBundle(side) ? side : ((await fetchBundle(side)) ?? side);
  return [await carried(a), await carried(b)];
}

async function askHost(a: OpenSide, b: OpenSide): Promise<AsyncIterable<string> | undefined> {
  if (isBundle(a)) return undefined;
  try {
    return await a.client.runs.diffText(a.run.runId, b.run.runId);
  } catch (error) {
    // Both runs are there, so what is not found is the operation.
    if (error instanceof ApiError && (error.status === 404 || error.status === 501)) return undefined;
    throw error;
  }
}

export async function compareHere(a: OpenSide, b: OpenSide): Promise<AsyncIterable<string>> {
  const { findDivergence, renderDiff, stateDiff } = await import('@weft/engine');
  const truncated = ![a, b].every(isWhole);
  const divergence = await findDivergence(logOf(a), logOf(b));
  return renderDiff({
    a: a.run.runId,
    b: b.run.runId,
    stateDiff: stateDiff(a.run, b.run),
    truncated,
    ...divergence,
  });
}

function isWhole(side: OpenSide): boolean {
  return isTerminalStatus(side.run.status) && !(isBundle(side) && side.isPartial);
}

async function* logOf(side: OpenSide): LogPages & AsyncGenerator<readonly LogEvent[]> {
  if (isBundle(side)) yield side.events.map(toLogEvent);
  else
    for await (const { events } of side.client.runs.log(side.run.runId).pages()) yield events.map(toLogEvent);
}

function toLogEvent(event: RunEventDocument): LogEvent {
  return {
    seq: event.sequence,
    type: event.type,
    payload: JSON.stringify(event.payload ?? null),
    get document() {
      return JSON.stringify(event);
    },
  };
}

/** A whole log, for the views that need it. */
export async function wholeLog(side: OpenSide): Promise<RunEventDocument[]> {
  if (isBundle(side)) return [...side.events];
  const events: RunEventDocument[] = [];
  for await (const event of side.client.runs.log(side.run.runId)) events.push(event);
  return events;
}

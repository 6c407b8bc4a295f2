import { ApiError, type Client, type RunFilter, type RunSummary } from '@weft/sdk';
import { CliError, EXIT, usageError } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { shown } from '../output/terminal-text.ts';
import { connect, type TargetArgs } from './connection.ts';

const WHOLE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Fewer characters are more likely a word than the beginning of an id. */
const BEGINNING = /^(?=.{4})[0-9a-f][0-9a-f-]*$/i;

const PAGE = 500;
/** As many runs are looked through, in pages, before the host is asked for what was typed. */
const MOST_RUNS = 10_000;
const SHOWN_CANDIDATES = 10;

/** The run that was meant: a whole id, the beginning of one, or `@last`, the newest run that the key may see. */
export async function resolveRunId(client: Client, typed: string): Promise<string> {
  if (typed.startsWith('@')) return lastRun(client, typed);
  if (WHOLE.test(typed) || !BEGINNING.test(typed)) return typed;
  const found = await beginningWith(client, typed.toLowerCase().replaceAll('-', ''));
  if (found.length > 1) throw ambiguous(typed, found);
  // None: the host may know it by another rule, and says so if it does not.
  return found[0]?.runId ?? typed;
}

export async function connectToRun(
  io: Io,
  args: TargetArgs & { readonly run: string },
): Promise<{ client: Client; runId: string }> {
  const { client } = await connect(io, args);
  return { client, runId: await resolveRunId(client, args.run) };
}

export function resolveRunIds(client: Client, typed: readonly string[]): Promise<string[]> {
  return Promise.all(typed.map((each) => resolveRunId(client, each)));
}

async function lastRun(client: Client, typed: string): Promise<string> {
  if (typed !== '@last') throw usageError(`"${typed}" is not a run. The newest one is @last.`);
  const { items } = await client.runs.list({ limit: 1 });
  const [newest] = items;
  if (newest !== undefined) return newest.runId;
  throw new CliError(EXIT.unmet, 'no_runs', 'There is no run yet. Start one: weft run WORKFLOW');
}

/** Ids begin with the time at which they were made, so most of the list need not be read; imported runs have ids of another kind. */
async function beginningWith(client: Client, hex: string): Promise<RunSummary[]> {
  try {
    const near = await matching(client, hex, windowOf(hex));
    if (near.length > 0) return near;
    return await matching(client, hex, {});
  } catch (error) {
    // The list is Weft's own, and needs a right of its own.
    if (error instanceof ApiError && [403, 404, 501].includes(error.status)) return [];
    throw error;
  }
}

const TIME_DIGITS = 12;
/** Ids of a process may be ahead of its clock, and clocks of processes differ. */
const TOLERANCE_MS = 60_000;

function windowOf(hex: string): RunFilter {
  const digits = hex.slice(0, TIME_DIGITS);
  const first = Number.parseInt(digits.padEnd(TIME_DIGITS, '0'), 16) - TOLERANCE_MS;
  const last = Number.parseInt(digits.padEnd(TIME_DIGITS, 'f'), 16) + TOLERANCE_MS;
  return { since: isoOf(first), until: isoOf(last) };
}

const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function isoOf(ms: number): string {
  return new Date(Math.min(Math.max(0, ms), LAST_MS)).toISOString();
}

async function matching(client: Client, hex: string, filter: RunFilter): Promise<RunSummary[]> {
  const found: RunSummary[] = [];
  let cursor: string | undefined;
  for (let read = 0; ; ) {
    const page = await client.runs.list({ ...filter, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    found.push(...page.items.filter(({ runId }) => runId.replaceAll('-', '').startsWith(hex)));
    read += page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined || page.items.length === 0) return found;
    // Of those that were not looked at, one may begin so, too.
    if (read >= MOST_RUNS && found.length === 0) return found;
    if (read >= MOST_RUNS)
      throw usageError(`More than ${MOST_RUNS} runs may begin with these characters; type more of the id.`);
  }
}

function ambiguous(typed: string, found: readonly RunSummary[]): CliError {
  const lines = found.slice(0, SHOWN_CANDIDATES).map(lineOf);
  const more = found.length - lines.length;
  return new CliError(
    EXIT.usage,
    'ambiguous_run_id',
    [
      shown`${found.length} runs begin with ${typed}; type more of the one you mean:`,
      ...lines,
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ].join('\n'),
    { details: { candidates: found.slice(0, PAGE).map(({ runId }) => runId) } },
  );
}

function lineOf({ runId, workflowId, status, createdAt }: RunSummary): string {
  return shown`  ${[runId, workflowId, status, createdAt].filter(Boolean).join('  ')}`;
}

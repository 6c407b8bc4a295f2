import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../testing/host-process.ts';
import { type Served, serveHere, weft } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let folder: string;
let host: Served;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-examples-'));
  port = await freePort();
  host = await serveHere(folder, [
    '--port',
    String(port),
    '--workflows',
    EXAMPLES,
    '--allow-egress',
    `127.0.0.1:${port}`,
  ]);
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Sample {
  readonly id: string;
  readonly inputs?: readonly string[];
  readonly outputs: unknown;
}

const SAMPLES: readonly Sample[] = [
  { id: 'order-fulfilment', outputs: { result: 'shipped', status: 'shipped', orderId: 'A-1' } },
  {
    id: 'order-fulfilment',
    inputs: ['orderId=A-18', 'quantity=20'],
    outputs: { result: 'refused', status: 'refused', orderId: 'A-18' },
  },
  { id: 'payment-retry', outputs: { result: 'invoice', payment: 'invoice' } },
  { id: 'batch-totals', outputs: { runningTotals: [30, 150, 180], total: 180 } },
  { id: 'nightly-report', outputs: { report: '3 sales, 195 EUR', total: 195 } },
  { id: 'issue-triage', outputs: { queue: 'on-call', number: 1 } },
  { id: 'issue-triage', inputs: ['title=A typo', 'number=7'], outputs: { queue: 'backlog', number: 7 } },
  {
    id: 'text-lengths',
    outputs: {
      lengths: [
        { text: 'warp', length: 4 },
        { text: 'weft', length: 4 },
        { text: 'shuttle', length: 7 },
      ],
      total: 15,
    },
  },
  {
    id: 'writing-team',
    inputs: ['topic=shuttles'],
    outputs: {
      decision: { kind: 'terminate', reason: 'the text is done' },
      text: 'A text from: Notes on shuttles',
    },
  },
  {
    id: 'reminder',
    inputs: ['delayMs=50', 'answered=true'],
    outputs: { text: 'Thank you, Ada.', message: 'Thank you, Ada.' },
  },
];

async function outputsOf(id: string, inputs: readonly string[]): Promise<unknown> {
  const flags = inputs.flatMap((input) => ['--input', input]);
  const result = await weft(folder, ['run', id, ...flags, '--watch', '--json']);
  expect(result).toMatchObject({ code: 0, err: '' });
  const last = JSON.parse(result.out.trim().split('\n').at(-1) ?? '') as {
    type: string;
    payload: { outputs: unknown };
  };
  expect(last.type).toBe('run.completed');
  return last.payload.outputs;
}

describe('the samples', () => {
  it('are all loaded without a complaint', async () => {
    const files = (await readdir(EXAMPLES)).filter((name) => name.endsWith('.json'));

    const listed = await weft(folder, ['workflows', 'ls', '--json']);

    expect(listed.out.trim().split('\n')).toHaveLength(files.length);
    expect(host.io.out()).not.toContain('Not loaded');
  });

  it.each(SAMPLES)('$id with $inputs ends as it says', async ({ id, inputs, outputs }) => {
    expect(await outputsOf(id, inputs ?? [])).toEqual(outputs);
  });

  it('expense-approval pays a small expense without asking', async () => {
    expect(await outputsOf('expense-approval', ['amount=120'])).toEqual({
      result: 'paid without asking',
      status: 'paid without asking',
      amount: 120,
    });
  });

  it.each([
    { verb: 'approve', status: 'approved' },
    { verb: 'reject', status: 'rejected' },
  ])('expense-approval ends as $status when a person says $verb', async ({ verb, status }) => {
    const started = await weft(folder, ['run', 'expense-approval', '--input', 'amount=800']);
    const runId = started.out.trim();
    const why = await weft(folder, ['runs', 'why', runId]);

    const answered = await weft(folder, [verb, runId, '--feedback', 'seen']);

    expect(why.out).toContain(`weft approve ${runId} manager`);
    expect(answered).toEqual({ code: 0, out: `${runId}  completed\n`, err: '' });
    const shown = await weft(folder, ['runs', 'show', runId, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ status: 'completed', variables: { status } });
  });

  it('trip-booking books a short stay at once, and asks about a long one in the child', async () => {
    const short = (await outputsOf('trip-booking', ['city=Porto'])) as Record<string, unknown>;
    const started = await weft(folder, ['run', 'trip-booking', '--input', 'nights=5']);
    const runId = started.out.trim();
    const inbox = await weft(folder, ['inbox', '--json']);
    const question = JSON.parse(inbox.out.trim().split('\n')[0] ?? '') as { runId: string; nodeId: string };

    const why = await weft(folder, ['runs', 'why', runId]);
    await weft(folder, ['approve', question.runId, question.nodeId]);

    expect(short).toMatchObject({ flight: 'Flight to Porto', hotel: 'A room in Porto' });
    expect(why.out).toContain(`waits for its child run ${question.runId}`);
    const shown = await weft(folder, ['runs', 'show', runId, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({
      status: 'completed',
      variables: { hotel: 'A room in Lisbon' },
      childRuns: [{ status: 'completed' }, { status: 'completed' }],
    });
  });

  it('http-health-check reaches this host at whatever port it listens, where that was allowed', async () => {
    const up = { result: 'up', health: 'up', status: 200 };

    expect(await outputsOf('http-health-check', [])).toEqual(up);
    expect(await outputsOf('http-health-check', [`url=http://127.0.0.1:${port}/health`])).toEqual(up);
  });

  it('http-health-check takes its error path where it is not allowed', async () => {
    expect(await outputsOf('http-health-check', ['url=http://127.0.0.1:9/health'])).toEqual({
      result: 'down',
      health: 'down',
    });
  });
});

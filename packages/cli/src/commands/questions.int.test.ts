import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../main.ts';
import { type RecordedIo, recordedIo } from '../testing/recorded-io.ts';
import { PROGRAM } from '../program-name.ts';
import { type Outcome, type Served, serveHere, weft } from '../testing/served.ts';

let folder: string;
let host: Served;

function node(id: string, typeId: string, config: JsonObject): JsonObject {
  return { id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {} };
}

function workflow(id: string, nodes: readonly JsonObject[], edges: readonly JsonObject[] = []): JsonObject {
  return {
    id,
    name: id,
    version: '1.0.0',
    nodes: [...nodes],
    edges: [...edges],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
}

const WORKFLOWS = [
  workflow('quorum', [node('board', 'core.approvalGate', { title: 'Buy it?', requiredApprovals: 2 })]),
  workflow('survey', [
    node('details', 'core.clarificationGate', {
      questions: [
        { id: 'colour', question: 'Which colour?' },
        { id: 'size', question: 'Which size?', schema: { type: 'number' } },
      ],
    }),
  ]),
  workflow('payment', [
    node('settled', 'core.interrupt', {
      kind: 'external-event',
      data: { eventType: 'payment.settled', correlation: { orderId: 'A-17' } },
    }),
  ]),
  workflow(
    'both',
    [
      node('start', 'core.start', {}),
      node('legal', 'core.approvalGate', { title: 'Legal?' }),
      node('price', 'core.approvalGate', { title: 'Price?' }),
    ],
    [
      { id: 'e1', sourceNodeId: 'start', targetNodeId: 'legal' },
      { id: 'e2', sourceNodeId: 'start', targetNodeId: 'price' },
    ],
  ),
  workflow('each', [
    node('items', 'core.loop', { body: ['gate'], items: '[1, 2]', maxIterations: 5 }),
    node('gate', 'core.approvalGate', { title: 'This one?' }),
  ]),
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-questions-'));
  await mkdir(join(folder, 'workflows'));
  for (const definition of WORKFLOWS)
    await writeFile(
      join(folder, 'workflows', `${String(definition['id'])}.json`),
      JSON.stringify(definition),
    );
  host = await serveHere(folder, ['--workflows', 'workflows']);
});

afterEach(async () => {
  const listed = await run('runs', 'ls', '--json');
  for (const { runId, status } of documents(listed.out))
    if (String(status).startsWith('waiting-')) await run('runs', 'cancel', String(runId));
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

function run(...argv: string[]): Promise<Outcome> {
  return weft(folder, argv);
}

async function waiting(workflowId: string): Promise<string> {
  const { out } = await run('run', workflowId);
  return out.trim();
}

function documents(out: string): JsonObject[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
}

describe('the inbox', () => {
  it('is fine when it is empty', async () => {
    expect(await run('inbox')).toEqual({ code: 0, out: '', err: 'No open interrupts.\n' });
    expect(await run('inbox', '--json')).toEqual({ code: 0, out: '', err: '' });
  });

  it('lists the questions of all runs, and how to answer the first', async () => {
    const quorum = await waiting('quorum');
    const payment = await waiting('payment');

    const shown = await run('inbox');
    const cut = await run('inbox', '--limit', '1');
    const json = documents((await run('inbox', '--json')).out);

    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/^RUN +WORKFLOW +NODE +KIND +ASKS +VOTES +SINCE +UNTIL\n/);
    expect(shown.out).toMatch(new RegExp(`${quorum} +quorum +board +approval +Buy it\\? +0/2 +`));
    expect(shown.out).toMatch(new RegExp(`${payment} +payment +settled +external-event +payment\\.settled`));
    expect(shown.err).toBe(
      `Answer the first: ${PROGRAM} resolve ${payment} settled --value '{"orderId":"A-17"}'\n`,
    );
    expect(cut.out.trim().split('\n')).toHaveLength(2);
    expect(cut.err).toContain('Shown: the first 1. There are more: --limit 5');
    expect(json.map(({ runId, kind }) => [runId, kind])).toEqual([
      [payment, 'external-event'],
      [quorum, 'approval'],
    ]);
  });
});

describe('an approval', () => {
  it('counts voices until there are enough', async () => {
    const runId = await waiting('quorum');

    const first = await run('approve', runId, '--voter', 'ada', '--feedback', 'good price');
    const second = await run('approve', runId, 'board', '--voter', 'bob', '--json');

    expect(first).toEqual({
      code: 0,
      out: `${runId}  waiting-approval\n`,
      err: `It is still waiting. Reason: ${PROGRAM} runs why ${runId}\n`,
    });
    expect(second).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(second.out)).toEqual({ runId, nodeId: 'board', status: 'completed' });
    const { out } = await run('runs', 'events', runId);
    expect(out).toMatch(/approval\.received board {2}accept by ada: good price/);
  });

  it('that is rejected fails the run, and a later answer is a condition not met', async () => {
    const runId = await waiting('quorum');

    const rejected = await run('reject', runId, '--feedback', 'too dear');
    const again = await run('approve', runId, 'board', '--json');
    const unnamed = await run('approve', runId);

    expect(rejected).toEqual({ code: 0, out: `${runId}  failed\n`, err: '' });
    expect(again.code).toBe(4);
    expect(JSON.parse(again.err)).toMatchObject({ error: 'interrupt_already_resolved' });
    expect(unnamed).toEqual({ code: 4, out: '', err: `Run ${runId} is failed and has no open interrupt.\n` });
  });

  it('of a node that asked nothing, or of a run that does not exist, is unusable', async () => {
    const runId = await waiting('quorum');

    const noNode = await run('approve', runId, 'unknown', '--json');
    const noRun = await run('approve', 'nowhere', '--json');

    expect(noNode.code).toBe(3);
    expect(JSON.parse(noNode.err)).toMatchObject({ error: 'interrupt_not_found' });
    expect(noRun.code).toBe(3);
  });

  it('needs the node when several ask, and lists them', async () => {
    const runId = await waiting('both');

    const unclear = await run('approve', runId);
    const legal = await run('approve', runId, 'legal');
    const price = await run('approve', runId);

    expect(unclear).toEqual({
      code: 2,
      out: '',
      err: `Run ${runId} has several open interrupts; name the node:\n  ${PROGRAM} approve ${runId} legal\n  ${PROGRAM} approve ${runId} price\n`,
    });
    expect(legal.out).toBe(`${runId}  waiting-approval\n`);
    expect(price.out).toBe(`${runId}  completed\n`);
  });

  it('inside a loop names the iteration', async () => {
    const runId = await waiting('each');

    const first = await run('approve', runId, 'gate[0]');
    const open = documents((await run('inbox', '--json')).out);
    const second = await run('approve', runId);

    expect(first.out).toBe(`${runId}  waiting-approval\n`);
    expect(open).toMatchObject([{ runId, nodeId: 'gate', iteration: [1] }]);
    expect(second.out).toBe(`${runId}  completed\n`);
  });
});

describe('a clarification', () => {
  it('takes one answer per question', async () => {
    const runId = await waiting('survey');

    const incomplete = await run('answer', runId, 'colour=blue', '--json');
    const complete = await run('answer', runId, 'details', 'colour=blue', 'size=4');

    expect(incomplete.code).toBe(3);
    expect(JSON.parse(incomplete.err)).toMatchObject({
      error: 'validation_error',
      details: { field: 'resumeValue.answers.size' },
    });
    expect(complete).toEqual({ code: 0, out: `${runId}  completed\n`, err: '' });
  });

  it('takes its answers from a file', async () => {
    const runId = await waiting('survey');
    await writeFile(join(folder, 'answers.json'), '{"colour":"blue","size":4}');

    expect(await run('answer', runId, '@answers.json')).toMatchObject({
      code: 0,
      out: `${runId}  completed\n`,
    });
  });

  it('cannot be approved, and says what to do instead', async () => {
    const runId = await waiting('survey');

    const result = await run('approve', runId);

    expect(result).toMatchObject({
      code: 4,
      err: `Node details waits for another kind of answer. Use: ${PROGRAM} answer ${runId} details colour=ANSWER size=ANSWER\n`,
    });
  });
});

describe('an event from outside', () => {
  it('is taken when it carries the correlation', async () => {
    const runId = await waiting('payment');
    await writeFile(join(folder, 'event.json'), '{"orderId":"A-17","paid":true}');

    const other = await run('resolve', runId, '--value', '{"orderId":"B-1"}', '--json');
    const right = await run('resolve', runId, '--value', '@event.json');

    expect(other.code).toBe(3);
    expect(JSON.parse(other.err)).toMatchObject({ error: 'correlation_mismatch' });
    expect(right).toEqual({ code: 0, out: `${runId}  completed\n`, err: '' });
  });

  it('needs a value that is JSON', async () => {
    expect(await run('resolve', 'RUN', 'node')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--value'),
    });
    expect(await run('resolve', 'RUN', 'node', '--value', '{nope')).toMatchObject({ code: 3 });
  });
});

describe('a user who watches a run', () => {
  async function watched(io: RecordedIo, argv: readonly string[], until: string): Promise<number> {
    const ended = main(argv, io);
    await io.waitFor(until);
    const runId = String(documents((await run('inbox', '--json')).out)[0]?.['runId']);
    await run('approve', runId, '--voter', 'ada');
    await run('approve', runId, '--voter', 'bob');
    return await ended;
  }

  it('reads once how to answer, and sees it end', async () => {
    const io = recordedIo({ cwd: folder });

    const code = await watched(io, ['run', 'quorum', '--watch'], 'weft reject');

    expect(code).toBe(0);
    expect(io.err()).toMatch(
      /^Node board waits for an approval: Buy it\?\n {2}\S*weft approve \S+ board\n {2}\S*weft reject \S+ board\n$/,
    );
    expect(io.out()).toMatch(/Run \S+ completed in /);
  });

  it('on a terminal reads that above the view', async () => {
    const io = recordedIo({ cwd: folder, isTTY: true });

    const code = await watched(io, ['run', 'quorum', '--watch'], 'weft reject');

    expect({ code, err: io.err() }).toEqual({ code: 0, err: '' });
    expect(io.out().split('weft approve')).toHaveLength(2);
    expect(io.out()).toContain('waiting-approval');
  });

  it('gets nothing but documents with --json', async () => {
    const io = recordedIo({ cwd: folder });

    const code = await watched(io, ['run', 'quorum', '--watch', '--json'], 'interrupt.requested');

    expect({ code, err: io.err() }).toEqual({ code: 0, err: '' });
    expect(documents(io.out()).at(-1)).toMatchObject({ type: 'run.completed' });
  });

  it('sees open questions in `runs events --follow`, and not answered ones', async () => {
    const runId = await waiting('quorum');
    const io = recordedIo({ cwd: folder });

    const code = await watched(io, ['runs', 'events', runId, '--follow'], 'weft reject');
    const afterwards = await run('runs', 'events', runId, '--follow');

    expect(code).toBe(0);
    expect(io.err()).toContain(`${PROGRAM} approve ${runId} board`);
    expect(afterwards.err).toBe('');
  });

  it('sees the question in `runs show` too', async () => {
    const runId = await waiting('quorum');

    const { out } = await run('runs', 'show', runId);

    expect(out).toContain(
      `Node board waits for an approval: Buy it?\n  ${PROGRAM} approve ${runId} board\n  ${PROGRAM} reject ${runId} board\n`,
    );
  });
});

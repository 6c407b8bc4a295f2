import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../program-name.ts';
import { type Outcome, type Served, serveHere, weft as weftIn } from '../testing/served.ts';

const EXAMPLES = new URL('../../../../examples/workflows/', import.meta.url).pathname;

let cwd: string;
let host: Served;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-run-'));
  host = await serveHere(cwd, ['--workflows', EXAMPLES]);
});

afterAll(async () => {
  await host.stop();
  await rm(cwd, { recursive: true, force: true });
});

const weft = (...argv: string[]): Promise<Outcome> => weftIn(cwd, argv);

describe('run', () => {
  it('refuses an input that the workflow does not declare, with the closest name', async () => {
    const before = await weft('runs', 'ls', '--json');

    const typo = await weft('run', 'order-fulfilment', '--input', 'quantitty=2');
    const foreign = await weft('run', 'order-fulfilment', '--input', 'zebra=2', '--json');

    expect(typo).toMatchObject({ code: 2, out: '' });
    expect(typo.err).toContain('declares no input "quantitty"');
    expect(typo.err).toContain('Did you mean "quantity"?');
    expect(typo.err).toContain('--allow-undeclared');
    expect(JSON.parse(foreign.err)).toMatchObject({
      error: 'undeclared_input',
      details: { undeclared: ['zebra'], declared: expect.arrayContaining(['quantity', 'country']) },
    });
    expect((await weft('runs', 'ls', '--json')).out).toBe(before.out);
  });

  it('passes one all the same with --allow-undeclared, and says that it was ignored', async () => {
    const text = await weft('run', 'order-fulfilment', '--input', 'zebra=2', '--allow-undeclared');
    const json = await weft('run', 'order-fulfilment', '-i', 'zebra=2', '--allow-undeclared', '--json');

    expect(text).toMatchObject({ code: 0, err: expect.stringContaining('Ignored') });
    expect(text.err).toContain('zebra');
    expect(JSON.parse(json.out)).toMatchObject({ weft: { ignoredInputs: ['zebra'] } });
  });

  it('takes the text of an input that is declared as a string, whatever JSON it could be', async () => {
    const inputs = ['orderId=41', 'country="DE"', 'quantity=2'].flatMap((pair) => ['--input', pair]);
    const started = await weft('run', 'order-fulfilment', ...inputs, '--allow-undeclared', '--json');
    const { runId } = JSON.parse(started.out) as { runId: string };
    const run = JSON.parse((await weft('runs', 'show', runId, '--json')).out) as { variables: object };
    const made = await weft(
      ...['schedules', 'create', 'typed', '--workflow', 'order-fulfilment', '--every', '1d', '--json'],
      ...inputs,
    );

    expect(run.variables).toMatchObject({ orderId: '41', country: 'DE', quantity: 2 });
    expect(JSON.parse(made.out)).toMatchObject({ inputs: { orderId: '41', country: 'DE', quantity: 2 } });
  });

  it('suggests the workflow that was meant', async () => {
    const { code, err } = await weft('run', 'order-fulfillment', '--input', 'quantity=1');

    expect(code).toBe(3);
    expect(err).toContain(`Did you mean: ${PROGRAM} run order-fulfilment`);
  });

  it('takes a version, and lists those there are when there is none of that name', async () => {
    const sample = await readFile(join(EXAMPLES, 'batch-totals.json'), 'utf8');
    await writeFile(join(cwd, 'next.json'), sample.replace('"version": "1.0.0"', '"version": "1.1.0"'));
    await weft('workflows', 'register', 'next.json');

    const old = await weft('run', 'batch-totals', '--version', '1.0.0');
    const missing = await weft('run', 'batch-totals', '--version', '3');
    const listed = await weft('runs', 'ls', '--workflow', 'batch-totals', '--json');

    expect(old.code).toBe(0);
    expect(JSON.parse(listed.out)).toMatchObject({ runId: old.out.trim(), workflowVersion: '1.0.0' });
    expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('1.0.0, 1.1.0') });
  });
});

describe('a run id', () => {
  it('may be @last or its first characters wherever one is taken', async () => {
    const first = (await weft('run', 'reminder', '--input', 'delayMs=60000')).out.trim();
    const last = (await weft('run', 'expense-approval', '--input', 'amount=900')).out.trim();
    const prefix = first.slice(0, 30);

    const shown = await Promise.all([
      weft('runs', 'show', '@last', '--json'),
      weft('runs', 'show', prefix, '--json'),
    ]);
    const commands = [
      ['runs', 'why', prefix],
      ['runs', 'events', prefix],
      ['runs', 'annotations', prefix],
      ['runs', 'artifact', prefix],
      ['annotate', prefix, '--flag'],
      ['bundle', prefix, '-o', '-'],
      ['diff', prefix, '@last'],
      ['runs', 'pause', prefix],
      ['runs', 'resume', prefix],
      ['runs', 'cancel', prefix],
      ['fork', prefix, '--from', '1'],
      ['runs', 'erase', prefix],
      ['runs', 'rm', prefix],
    ];
    const compared = await weft('diff', prefix, '@last');
    const codes: [string, number][] = [];
    for (const command of [...commands, ['approve', last.slice(0, 30)]]) {
      const { code } = await weft(...command);
      codes.push([command.join(' '), code]);
    }

    expect(shown.map(({ out }) => (JSON.parse(out) as { runId: string }).runId)).toEqual([last, first]);
    expect(compared.out).toMatch(new RegExp(`^a +${first} .*\\nb +${last} `));
    // 4: the run is found, and not in the state for it.
    expect(codes.filter(([, code]) => code !== 0 && code !== 4)).toEqual([]);
  });

  it('that several runs begin with names them', async () => {
    const ids = await Promise.all([weft('run', 'batch-totals'), weft('run', 'batch-totals')]);

    const { code, err } = await weft('runs', 'show', (ids[0]?.out ?? '').slice(0, 4));

    expect(code).toBe(2);
    for (const { out } of ids) expect(err).toContain(`${out.trim()}  batch-totals`);
  });
});

describe('workflows', () => {
  it('are checked in files and folders, each by itself', async () => {
    await mkdir(join(cwd, 'flows'));
    const sample = await readFile(join(EXAMPLES, 'reminder.json'), 'utf8');
    await writeFile(join(cwd, 'flows', 'a.json'), sample);
    await writeFile(join(cwd, 'flows', 'b.json'), sample.replace('"core.delay"', '"core.dealy"'));
    await writeFile(join(cwd, 'flows', 'c.json'), '{"id": ');

    const text = await weft('workflows', 'check', 'flows', join(EXAMPLES, 'batch-totals.json'));
    const json = await weft('workflows', 'check', 'flows', '--json');
    const samples = await weft('workflows', 'check', EXAMPLES);

    expect(text.code).toBe(1);
    expect(text.out).toMatch(/flows\/b\.json:\d+: error: .*core\.dealy/);
    expect(text.out).toMatch(/flows\/c\.json: error: /);
    expect(text.err).toContain('1 error, 0 warnings.');
    expect(text.err).toContain('4 files: 2 ok, 2 not.');
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { ok: boolean }).ok),
    ).toEqual([true, false, false]);
    expect(samples.code).toBe(0);
  });

  it('are listed with the current version marked, and shown by version', async () => {
    const sample = await readFile(join(EXAMPLES, 'payment-retry.json'), 'utf8');
    await writeFile(join(cwd, 'v2.json'), sample.replace('"version": "1.0.0"', '"version": "2.0.0"'));
    await weft('workflows', 'register', 'v2.json');

    const listed = await weft('workflows', 'ls');
    const rows = (await weft('workflows', 'ls', '--json')).out.trim().split('\n');
    const old = await weft('workflows', 'show', 'payment-retry', '--version', '1.0.0', '--json');
    const typo = await weft('workflows', 'show', 'payment-rety');

    expect(listed.out).toMatch(/^payment-retry +2\.0\.0 +current /m);
    expect(listed.out).toMatch(/^payment-retry +1\.0\.0 +\d/m);
    expect(
      rows
        .map((row) => JSON.parse(row) as { id: string; version: string; current: boolean })
        .filter(({ id }) => id === 'payment-retry')
        .map(({ version, current }) => [version, current]),
    ).toEqual([
      ['1.0.0', false],
      ['2.0.0', true],
    ]);
    expect(JSON.parse(old.out)).toMatchObject({ version: '1.0.0' });
    expect(typo).toMatchObject({
      code: 3,
      err: expect.stringContaining('weft workflows show payment-retry'),
    });
  });
});

describe('runs show', () => {
  it('has version, fork origin, children and parent', async () => {
    const run = (await weft('run', 'batch-totals', '--watch', '--json')).out;
    const { runId } = JSON.parse(run.split('\n')[0] ?? '') as { runId: string };
    const fork = (await weft('fork', runId, '--from', '3')).out.trim();
    const trip = JSON.parse((await weft('run', 'trip-booking', '-w', '--json')).out.split('\n')[0] ?? '') as {
      runId: string;
    };
    const snapshot = JSON.parse((await weft('runs', 'show', trip.runId, '--json')).out) as {
      childRuns: { runId: string }[];
    };
    const child = snapshot.childRuns[0]?.runId ?? '';

    const [forked, parent, below] = [
      await weft('runs', 'show', fork),
      await weft('runs', 'show', trip.runId),
      await weft('runs', 'show', child),
    ];

    expect(forked.out).toMatch(/^workflow +batch-totals@1\.\d\.0$/m);
    expect(forked.out).toMatch(new RegExp(`^fork of +${runId} from #3 \\(branch\\)$`, 'm'));
    expect(parent.out).toMatch(new RegExp(`^${child} +trip-(flight|hotel) +completed`, 'm'));
    expect(below.out).toMatch(new RegExp(`^child of +${trip.runId}$`, 'm'));
  });
});

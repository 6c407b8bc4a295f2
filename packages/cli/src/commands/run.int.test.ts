import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it('suggests the workflow that was meant', async () => {
    const { code, err } = await weft('run', 'order-fulfillment', '--input', 'quantity=1');

    expect(code).toBe(3);
    expect(err).toContain('Did you mean: weft run order-fulfilment');
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
    const codes: [string, number][] = [];
    for (const command of [...commands, ['approve', last.slice(0, 30)]]) {
      const { code } = await weft(...command);
      codes.push([command.join(' '), code]);
    }

    expect(shown.map(({ out }) => (JSON.parse(out) as { runId: string }).runId)).toEqual([last, first]);
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

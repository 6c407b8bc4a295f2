import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { recordedIo } from '../../testing/recorded-io.ts';
import { weft } from '../../testing/served.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-authoring-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

const ORDER = `
import { defineWorkflow } from '@weft/sdk/workflows';

export default defineWorkflow(
  { id: 'order', version: '1.0.0', variables: { amount: { type: 'number' } } },
  (w) => {
    const start = w.node('start', 'core.start');
    w.node('wait', 'core.delay', { config: { ms: 5 }, inputs: { delayMs: start.output('amount') } });
  },
);
`;

const short = (typeId: string): string =>
  JSON.stringify({ $schema: 'x', id: 'a', version: '1', nodes: [{ id: 'a', typeId }] }, null, 2);

describe('weft workflows build', () => {
  it('gives the definition as JSON, which can be checked', async () => {
    await write('order.ts', ORDER);

    const printed = await weft(folder, ['workflows', 'build', 'order.ts']);
    const written = await weft(folder, ['workflows', 'build', 'order.ts', '-o', 'order.json']);
    const checked = await weft(folder, ['workflows', 'check', 'order.json', 'order.ts']);

    expect(printed.err).toBe('');
    expect(JSON.parse(printed.out)).toMatchObject({ id: 'order', nodes: [{ id: 'start' }, { id: 'wait' }] });
    expect(written).toMatchObject({ code: 0, out: '', err: 'order@1.0.0 written to order.json\n' });
    expect(await readFile(join(folder, 'order.json'), 'utf8')).toBe(printed.out);
    expect(checked).toMatchObject({ code: 0, out: '' });
  });

  it('says file and line of a mistake', async () => {
    await write('order.ts', `${ORDER}\nconst x = ;`);
    await write('other.ts', 'export const nothing = 7;');
    await write(
      'two.ts',
      `${ORDER.replace('export default', 'export const one =')}\nexport const two = { ...one, id: 'two' };`,
    );

    const syntax = await weft(folder, ['workflows', 'build', 'order.ts']);
    const nothing = await weft(folder, ['workflows', 'build', 'other.ts']);
    const several = await weft(folder, ['workflows', 'build', 'two.ts']);
    const chosen = await weft(folder, ['workflows', 'build', 'two.ts', '--id', 'two']);
    const missing = await weft(folder, ['workflows', 'build', 'none.ts']);

    expect(syntax.code).toBe(1);
    expect(syntax.err).toContain('order.ts:12:11: Unexpected ";"');
    expect(nothing.err).toContain('exports no workflow');
    expect([several.code, several.err]).toEqual([
      2,
      expect.stringContaining('(order, two); choose one with --id'),
    ]);
    expect(JSON.parse(chosen.out)).toMatchObject({ id: 'two' });
    expect(missing.code).toBe(1);
  });
});

describe('weft workflows check', () => {
  it('takes short forms, and types that only workers know with a warning', async () => {
    await write('short.json', short('core.noop'));
    await write('theirs.json', short('acme.charge'));
    await write('wrong.json', short('core.nop'));

    expect(await weft(folder, ['workflows', 'check', 'short.json'])).toMatchObject({ code: 0, out: '' });
    const theirs = await weft(folder, ['workflows', 'check', 'theirs.json']);
    expect(theirs.code).toBe(0);
    expect(theirs.out).toMatch(
      /theirs\.json:\d+: warning: .*no node type "acme\.charge".*\(\/nodes\/0\/typeId\)/,
    );
    expect((await weft(folder, ['workflows', 'check', 'theirs.json', '--strict'])).code).toBe(1);
    expect((await weft(folder, ['workflows', 'check', 'wrong.json'])).code).toBe(1);
  });

  it('checks again with every change, until it is stopped', async () => {
    await write('a.json', short('core.noop'));
    const io = recordedIo({ cwd: folder });

    const ended = main(['workflows', 'check', '--watch', '.'], io);
    await io.waitFor('waiting for changes');
    await write('a.json', short('core.nop'));
    await io.waitFor('did you mean "core.noop"?');
    await write('a.json', '{ not json');
    await io.waitFor('a.json:1:3: ');
    await write('b.json', short('core.noop'));
    await io.waitFor('b.json: ok');
    io.signal('SIGINT');

    expect(await ended).toBe(0);
    expect(io.out()).toMatch(/a\.json:\d+: error: .*\(\/nodes\/0\/typeId\)/);
  });

  it('follows the files that a TypeScript workflow is made of', async () => {
    await write('ms.ts', 'export const ms = 5;');
    await write('order.ts', ORDER.replace('ms: 5', 'ms').replace('\n', "\nimport { ms } from './ms.ts';\n"));
    const io = recordedIo({ cwd: folder, isTTY: true });

    const ended = main(['workflows', 'check', '--watch', 'order.ts'], io);
    await io.waitFor('order.ts: ');
    await write('ms.ts', 'export const ms = -5;');
    await io.waitFor('/nodes/1/config/ms');
    io.signal('SIGINT');

    expect(await ended).toBe(0);
  });
});

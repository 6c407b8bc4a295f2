import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../parsing/command.ts';
import { main } from '../main.ts';
import { HOSTILE, type HostileHost, openHostileHost } from '../testing/hostile-host.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { weft } from './weft.ts';

/** How a command is called that needs more than a word for each of its arguments, or is called in several ways. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'weft run': [['noop'], ['noop', '--watch']],
  'weft runs show': [['R'], ['R', '--at', '3']],
  'weft runs events': [['R'], ['R', '--follow']],
  'weft runs artifact': [['R'], ['R', 'A', '-o', 'saved.bin']],
  'weft runs cancel': [['R'], ['R', 'Q'], ['--tag', 'x', '--dry-run']],
  'weft runs retry': [['R'], ['R', '--watch']],
  'weft runs rm': [['R', 'Q']],
  'weft runs prune': [
    ['--older-than', '1d', '--dry-run'],
    ['--older-than', '1d', '--yes'],
  ],
  'weft runs erase': [['R', 'Q']],
  'weft fork': [
    ['R', '--from', '1'],
    ['R', '--replay', '--watch'],
    ['R', '--from', '1', '--diff'],
  ],
  'weft diff': [
    ['R', 'Q'],
    ['R', 'Q', '--first'],
    ['R', 'Q', '--align', 'node'],
  ],
  'weft bundle': [
    ['R', '-o', 'saved.json'],
    ['R', '-o', '-'],
  ],
  'weft import': [['bundle.json']],
  'weft annotate': [['R', '--flag']],
  'weft approve': [['R'], ['R', 'N']],
  'weft answer': [['R', 'N', 'a=1']],
  'weft resolve': [
    ['R', 'N', '--value', '{}'],
    ['R', '--value', '{}'],
  ],
  'weft workflows register': [['workflow.json']],
  'weft conformance': [['--only', 'discovery/*']],
  'weft keys create': [['ada', '--scope', 'runs:read']],
  'weft secrets set': [['S', '--from-env', 'VALUE']],
  'weft webhooks add': [['https://a.example', '--events', '*']],
  'weft audit export': [
    ['-o', '-'],
    ['-o', 'audit.ndjson'],
  ],
  'weft costs ls': [[], ['--by', 'run']],
  'weft costs prices import': [['prices.json']],
  'weft retention set': [['30d']],
  'weft backup': [['copy.db']],
};

const asking = paths(weft);
const calls = [...asking].flatMap(([path, words]) =>
  (CALLS[path] ?? [words]).map((rest) => [path, ...rest].join(' ')),
);

/** What we write ourselves: colours, and the moves of the live view. */
const OURS = /\u001B\[(?:(?:1|2|22|31|32|33|36|39)m|\d*A|G|J|K)/g;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function expectHarmless(text: string, call: string): void {
  expect(text, call).not.toContain('\u001B[31mB');
  expect(
    UNSAFE.exec(text.replaceAll(OURS, '').replaceAll('\n', ''))?.[0],
    `${call}: ${JSON.stringify(text)}`,
  ).toBe(undefined);
  expect(
    text.split('\n').filter((line) => /^\W*FORGED/.test(line.replaceAll(OURS, ''))),
    `${call}: ${JSON.stringify(text)}`,
  ).toEqual([]);
}

let cwd: string;
let host: HostileHost;
let refusing: HostileHost;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'weft-hostile-'));
  host = await openHostileHost();
  refusing = await openHostileHost({ status: 409 });
  await writeFile(join(cwd, 'bundle.json'), '{}');
  await writeFile(join(cwd, 'prices.json'), '{"models":{}}');
  await writeFile(join(cwd, 'workflow.json'), '{"id":"w"}');
});
afterAll(async () => {
  await host.close();
  await refusing.close();
  await rm(cwd, { recursive: true, force: true });
});

async function run(call: string, url: string, env: Record<string, string> = {}) {
  const io = recordedIo({ cwd, isTTY: true, env: { WEFT_API_KEY: 'k', VALUE: 'long-enough', ...env } });
  const [, ...argv] = call.split(' ');
  const code = await main([...argv, '--url', url], io);
  await rm(join(cwd, 'copy.db'), { force: true });
  return { code, out: io.out(), err: io.err() };
}

/** Every command that asks a host, with a word for each argument that it needs. */
function paths(command: Command, path = command.name): ReadonlyMap<string, readonly string[]> {
  if (command.kind === 'group')
    return new Map(command.commands.flatMap((each) => [...paths(each, `${path} ${each.name}`)]));
  if (!('url' in command.args)) return new Map();
  const needed = Object.values(command.args).filter(
    (arg) => arg.type === 'positional' && arg.required === true,
  );
  return new Map([[path, needed.map(() => 'R')]]);
}

describe('text of others', () => {
  it('is looked at for every command that asks a host', () => {
    expect(asking.size).toBeGreaterThan(40);
    expect(Object.keys(CALLS).filter((path) => !asking.has(path))).toEqual([]);
  });

  it.each(calls)('reaches no terminal as it is: %s', async (call) => {
    const answers = [await run(call, host.url), await run(call, host.url, { NO_COLOR: '1' })];

    for (const { out, err } of answers) {
      expect(err).not.toContain('Unhandled error in weft');
      expectHarmless(out, call);
      expectHarmless(err, call);
    }
  });

  it.each(calls.filter((call) => !call.includes('--align')))(
    'is JSON that means the same: %s --json',
    async (call) => {
      const { out, err } = await run(`${call} --json`, host.url);

      expectHarmless(out, call);
      expectHarmless(err, call);
      for (const line of out.split('\n').filter(Boolean))
        expect(() => JSON.parse(line) as unknown, line).not.toThrow();
    },
  );

  it.each(calls)('reaches no terminal from a refusal either: %s', async (call) => {
    const { err, out } = await run(call, refusing.url);
    const json = await run(call.includes('--align') ? call : `${call} --json`, refusing.url);

    for (const text of [err, out, json.err, json.out]) expectHarmless(text, call);
    expect(err).not.toContain('Unhandled error in weft');
  });

  it('is the same for programs, to the byte, where no terminal reads', async () => {
    const io = recordedIo({ cwd, env: { WEFT_API_KEY: 'k' } });
    await main(['bundle', 'R', '-o', '-', '--url', host.url], io);
    const events = recordedIo({ cwd, env: { WEFT_API_KEY: 'k' } });
    await main(['runs', 'events', 'R', '--json', '--url', host.url], events);

    expect(io.out()).toContain('\u202E');
    expect(JSON.parse(events.out().split('\n')[3] ?? '')).toMatchObject({ payload: { message: HOSTILE } });
  });

  it('names no file', async () => {
    expect((await readdir(cwd)).sort()).toEqual([
      'audit.ndjson',
      'bundle.json',
      'prices.json',
      'saved.bin',
      'saved.json',
      'workflow.json',
    ]);
  });
});

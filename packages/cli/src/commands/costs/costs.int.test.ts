import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { runHost, type RunningHost } from '../../serve/run-host.ts';
import { readSettings } from '../../serve/settings/settings.ts';
import { recordedIo } from '../../testing/recorded-io.ts';
import { perMillion } from './read-price-file.ts';

const ASK = {
  id: 'ask',
  version: '1.0.0',
  nodes: [{ id: 'ask', typeId: 'core.ai.callPrompt', config: { prompt: 'say Good morning.' } }],
};
/** In the form of LiteLLM's file; names and prices are invented. */
const LITELLM = {
  sample_spec: { input_cost_per_token: 0, litellm_provider: 'one of https://…' },
  'fable/echo': {
    litellm_provider: 'fable',
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    mode: 'chat',
  },
  'fable/pictures': { litellm_provider: 'fable', output_cost_per_image: 0.04 },
};
const OWN = {
  name: 'own',
  date: '2026-11-02',
  licence: 'CC0-1.0',
  currency: 'USD',
  models: { 'mock/echo': { inputPerMillion: '1', outputPerMillion: '2' } },
};
const FLAGS = ['--date', '2026-11-01', '--licence', 'MIT', '--provider', 'fable=mock'];

let folder: string;
let host: RunningHost;

async function put(name: string, value: Json): Promise<string> {
  await writeFile(join(folder, name), JSON.stringify(value));
  return name;
}

async function serve(config: Json): Promise<RunningHost> {
  const given: Record<string, string[]> = {
    config: [await put('config.json', config)],
    data: ['data'],
    port: ['0'],
    workflows: ['flows'],
  };
  const io = recordedIo({ cwd: folder, env: {} });
  return runHost(io, await readSettings(io, (name) => given[name] ?? []), () => undefined);
}

async function weft(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = recordedIo({ cwd: folder, env: {} });
  const code = await main([...argv, '--data', 'data'], io);
  return { code, out: io.out(), err: io.err() };
}

const MODELS = { providers: { mock: { kind: 'mock' } }, default: 'mock/echo' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-costs-'));
  await mkdir(join(folder, 'flows'));
  await put('flows/ask.json', ASK);
  host = await serve({ models: MODELS, budgets: { '*': { day: { maxTokens: 1_000_000 } } } });
});
afterAll(async () => {
  await host.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the costs of a host', () => {
  it('are summed up, without a price and with one', async () => {
    await weft('run', 'ask', '--watch');
    const before = await weft('costs', 'ls');
    const imported = await weft('costs', 'prices', 'import', await put('litellm.json', LITELLM), ...FLAGS);
    await weft('run', 'ask', '--watch');

    const { out } = await weft('costs', 'ls', '--by', 'model');
    const report = JSON.parse((await weft('costs', 'ls', '--by', 'run', '--json')).out) as Json;

    expect(before.out).toMatch(
      /CALLS\s+INPUT\s+OUTPUT\s+US\$\s+UNPRICED\n\d{4}-\d{2}-\d{2}\s+1\s+3\s+2\s+unknown\s+1\n/,
    );
    expect(imported.out).toBe(
      'Imported "litellm" of 2026-11-01: prices of 1 model; 1 entry without a price of tokens left out.\n',
    );
    // 3 × 2.5 + 2 × 10 microdollars.
    expect(out).toMatch(/mock\/mock-echo\s+2\s+6\s+4\s+0\.0000275\s+1\n/);
    expect(out).toContain('US$ 0.0000275 for 2 calls');
    expect(report).toMatchObject({ by: 'run', total: { usd: '0.0000275', calls: 2, unpricedCalls: 1 } });
  });

  it('are priced by lists that are listed, replaced and removed', async () => {
    await weft('costs', 'prices', 'import', await put('own.json', OWN));

    const listed = await weft('costs', 'prices', 'ls');
    const removed = await weft('costs', 'prices', 'rm', 'own');
    const again = await weft('costs', 'prices', 'rm', 'own');

    expect(listed.out).toMatch(/own\s+2026-11-02\s+1\s+CC0-1\.0/);
    expect(removed.out).toBe('Removed "own".\n');
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('no price list of this name') });
  });

  it.each<[string, Json, string[], string]>([
    ['a file without a date', LITELLM, ['--licence', 'MIT'], 'give --date and --licence'],
    ['any other file', { a: { b: 1 } }, [], 'is neither a price list of Weft nor'],
    [
      'a price that is a number',
      { ...OWN, models: { 'a/b': { inputPerMillion: 1, outputPerMillion: '1' } } },
      [],
      'models',
    ],
    [
      'a price out of range',
      { ...OWN, models: { 'a/b': { inputPerMillion: '9000000', outputPerMillion: '1' } } },
      [],
      'dollars a million tokens',
    ],
    [
      'a model without a provider',
      { ...OWN, models: { b: { inputPerMillion: '1', outputPerMillion: '1' } } },
      [],
      'models',
    ],
    ['a member that is not known', { ...OWN, discount: 3 }, [], 'discount'],
    ['another currency', { ...OWN, currency: 'EUR' }, [], 'currency'],
    ['a flag that says it twice', OWN, ['--date', '2026-01-01'], 'names itself'],
  ])('take no prices from %s', async (_, file, flags, message) => {
    const before = await weft('costs', 'prices', 'ls', '--json');

    const refused = await weft('costs', 'prices', 'import', await put('bad.json', file), ...flags);

    expect(refused.code).toBeGreaterThan(0);
    expect(refused.err).toContain(message);
    expect((await weft('costs', 'prices', 'ls', '--json')).out).toBe(before.out);
  });
});

describe('a host with budgets that cannot be kept', () => {
  it.each<[Json, string]>([
    [{ acme: { week: { maxTokens: 1 } } }, 'budgets.acme.week: unknown field'],
    [{ acme: { day: { maxTokens: 1.5 } } }, 'budgets.acme.day.maxTokens must be a whole number'],
    [{ acme: { day: {} } }, 'budgets.acme.day limits nothing'],
  ])('does not start: %j', async (budgets, message) => {
    await expect(serve({ models: MODELS, budgets })).rejects.toThrow(message);
  });
});

describe('a price a token', () => {
  it.each([
    [2.5e-6, '2.5'],
    [1e-5, '10'],
    [3.75e-8, '0.0375'],
    [0, '0'],
    [1, '1000000'],
    [1e-12, '0.000001'],
    [0.001234567, '1234.567'],
    [1e-13, undefined],
    [1.5, undefined],
    [-1, undefined],
    ['1', undefined],
  ])('of %j dollars is %j a million', (perToken, text) => {
    expect(perMillion(perToken)).toBe(text);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { runHost, type RunningHost } from '../../serve/run-host.ts';
import { readSettings } from '../../serve/settings/settings.ts';
import { recordedIo } from '../../testing/recorded-io.ts';

const ASK = {
  id: 'ask',
  version: '1.0.0',
  nodes: [{ id: 'ask', typeId: 'core.ai.callPrompt', config: { prompt: 'say Good morning.' } }],
};
const LOCAL = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-models-'));
  await mkdir(join(folder, 'flows'));
  await writeFile(join(folder, 'flows', 'ask.json'), JSON.stringify(ASK));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function serve(data: string, models: JsonObject): Promise<RunningHost> {
  const config = join(folder, `${data}.json`);
  await writeFile(config, JSON.stringify({ models }));
  const io = recordedIo({ cwd: folder, env: {} });
  const given: Record<string, string[]> = {
    config: [config],
    data: [data],
    port: ['0'],
    workflows: ['flows'],
  };
  return runHost(io, await readSettings(io, (name) => given[name] ?? []), () => undefined);
}

async function weft(data: string, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = recordedIo({ cwd: folder, env: {} });
  const code = await main([...argv, '--data', data], io);
  return { code, out: io.out(), err: io.err() };
}

describe('a host with models', () => {
  let host: RunningHost;
  beforeAll(async () => {
    const providers = { mock: { kind: 'mock' }, local: LOCAL };
    host = await serve('served', { providers, default: 'mock/echo' });
  });
  afterAll(() => host.stop());

  it('answers prompts, by default and by the model that a run names', async () => {
    const answered = await weft('served', 'run', 'ask', '--watch');
    const failed = await weft('served', 'run', 'ask', '--watch', '--set', 'model=local/fable-1');

    expect(answered.out).toContain('Good morning.');
    expect(failed.code).toBe(1);
    expect(failed.out).toContain('provider_unavailable');
  });

  it('lists them', async () => {
    const { out } = await weft('served', 'models', 'ls');
    const { out: json } = await weft('served', 'models', 'ls', '--json');

    expect(out).toMatch(/mock\s+mock\s+optional\s+no/);
    expect(out).toMatch(/local\s+openai-compatible\s+optional\s+yes\s+http:\/\/127\.0\.0\.1:9\/v1/);
    expect(out).toContain('mock/echo');
    expect(JSON.parse(json)).toMatchObject({
      default: 'mock/echo',
      providers: [{ name: 'mock' }, { name: 'local' }],
    });
  });

  it('tries them', async () => {
    const works = await weft('served', 'models', 'test');
    const fails = await weft('served', 'models', 'test', 'local/fable-1');
    const json = await weft('served', 'models', 'test', '--json');

    expect(works).toMatchObject({ code: 0, out: expect.stringContaining('mock/mock-echo answered in') });
    expect(fails).toMatchObject({ code: 1, err: expect.stringContaining('provider_unavailable') });
    expect(JSON.parse(json.out)).toMatchObject({ provider: 'mock', model: 'mock-echo' });
  });
});

describe('a host with models that cannot be used', () => {
  it.each([
    [{ local: { ...LOCAL, kind: 'ollama' } }, 'models.providers.local.kind must be one of'],
    [{ local: { ...LOCAL, baseUrl: 'ftp://x' } }, 'models.providers.local.baseUrl must be'],
    [
      { local: { ...LOCAL, apiKey: 'secret:unset' } },
      'models.providers.local.apiKey names the secret "unset"',
    ],
    [{ local: { ...LOCAL, retries: 3 } }, 'models.providers.local.retries: unknown field'],
  ])('does not start: %j', async (providers, message) => {
    await expect(serve('refused', { providers })).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining(message),
    });
  });
});

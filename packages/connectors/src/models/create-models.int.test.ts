import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@weft/protocol';
import { callModel } from './testing/model-call.ts';
import { OPENAI_FORMAT } from './testing/openai-format.ts';
import { startWireServer, type WireServer } from './testing/wire-server.ts';

let first: WireServer;
let second: WireServer;

beforeEach(async () => {
  first = await startWireServer(OPENAI_FORMAT);
  second = await startWireServer(OPENAI_FORMAT);
  second.say({ text: ['from the second'] });
});

afterEach(async () => {
  await first.close();
  await second.close();
});

function config(changes: JsonObject = {}, provider: JsonObject = {}): JsonObject {
  return {
    providers: {
      first: { kind: 'openai-compatible', baseUrl: `${first.url}/v1`, ...provider },
      second: { kind: 'openai-compatible', baseUrl: second.url, apiKey: 'secret:second' },
      mock: { kind: 'mock' },
    },
    default: 'first/fable-1',
    classes: { coding: 'second/coder' },
    ...changes,
  };
}

const operatorSecrets = { second: 'second-key' };
const paths = (server: WireServer): readonly string[] => server.asked.map(({ path }) => path);

describe('the model that is asked', () => {
  it.each([
    ['the default', {}, {}, 'first', 'fable-1'],
    ['the one in the name', { model: 'second/fable/2' }, {}, 'second', 'fable/2'],
    ['a bare name, of the default provider', { model: 'fable-3' }, {}, 'first', 'fable-3'],
    [
      'the provider of the run',
      { model: 'first/fable-1' },
      { 'ai.provider': 'second' },
      'second',
      'first/fable-1',
    ],
    ['both of the run', { model: 'second/x' }, { 'ai.provider': 'second' }, 'second', 'x'],
    ['that of the class', { modelClass: 'coding' }, {}, 'second', 'coder'],
    ['the default, for another class', { modelClass: 'writing' }, {}, 'first', 'fable-1'],
    ['the one in the name, whatever the class', { model: 'first/x', modelClass: 'coding' }, {}, 'first', 'x'],
  ])('is %s', async (_what, request, configurable, provider, model) => {
    const called = await callModel({ config: config(), request, configurable, operatorSecrets });

    const server = provider === 'first' ? first : second;
    expect(called.provider).toBe(provider);
    expect(server.asked[0]?.body['model']).toBe(model);
  });

  it.each([
    [{ model: 'other/fable-1' }, {}],
    [{}, { 'ai.provider': 'other' }],
    [{}, { 'ai.provider': 'second' }],
  ])('must be one of the host', async (request, configurable) => {
    await expect(callModel({ config: config(), request, configurable })).rejects.toMatchObject({
      code: 'validation_error',
    });
    expect([...first.asked, ...second.asked]).toEqual([]);
  });

  it('is asked below the path of its base URL, and without a key where none is set', async () => {
    await callModel({ config: config() });

    expect(paths(first)).toEqual(['/v1/chat/completions']);
    expect(first.asked[0]?.headers.authorization).toBeUndefined();
  });
});

describe('a model that stands in', () => {
  const withFallback = (provider?: JsonObject) => config({ fallback: ['second/fable-2'] }, provider);

  it('is asked when the first one fails, and says so', async () => {
    first.say({ status: 503 });

    const { reply } = await callModel({ config: withFallback(), operatorSecrets });

    expect(reply).toMatchObject({ text: 'from the second', provider: 'second' });
  });

  it('is known by the name it was asked for, and is not asked where the meter of the run does not let it', async () => {
    first.say({ status: 503 });
    const asked: string[] = [];
    const meter = (isAllowed: boolean) => ({
      mayAsk: (provider: string, model: string) => asked.push(`${provider}/${model}`) > 0 && isAllowed,
      begin: () => () => undefined,
    });

    const { reply } = await callModel({ config: withFallback(), operatorSecrets, meter: meter(true) });
    const refused = callModel({ config: withFallback(), operatorSecrets, meter: meter(false) });

    expect(reply).toMatchObject({ provider: 'second', asked: 'fable-2' });
    await expect(refused).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(asked).toEqual(['second/fable-2', 'second/fable-2']);
    expect(second.asked).toHaveLength(1);
  });

  it('is not asked when the request is wrong', async () => {
    first.say({ status: 400 });

    await expect(callModel({ config: withFallback(), operatorSecrets })).rejects.toMatchObject({
      code: 'provider_rejected',
    });
    expect(second.asked).toEqual([]);
  });

  it('is not asked when some text was shown already', async () => {
    first.say({ text: ['Half'], after: 'break' });

    await expect(callModel({ config: withFallback(), operatorSecrets })).rejects.toMatchObject({
      code: 'provider_unavailable',
    });
    expect(second.asked).toEqual([]);
  });

  it('is not asked for a run that brings its own credential', async () => {
    first.say({ status: 503 });

    const called = callModel({
      config: withFallback(),
      operatorSecrets,
      secrets: { mine: 'my-own-key' },
      configurable: { 'ai.credentialRef': 'mine' },
    });

    await expect(called).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(second.asked).toEqual([]);
  });

  it('reports the failure of the first when it fails as well', async () => {
    first.say({ status: 429, headers: { 'retry-after': '3' } });
    second.say({ status: 500 });

    await expect(callModel({ config: withFallback(), operatorSecrets })).rejects.toMatchObject({
      code: 'provider_rate_limited',
      retryAfterMs: 3_000,
    });
  });
});

describe('the credential', () => {
  it('of a run goes before the operator’s, and is of the run’s tenant', async () => {
    await callModel({
      config: config(),
      request: { model: 'second/fable-1' },
      operatorSecrets,
      secrets: { mine: 'my-own-key' },
      configurable: { 'ai.credentialRef': 'mine' },
    });

    expect(second.asked[0]?.headers.authorization).toBe('Bearer my-own-key');
  });

  it('of a run that is not set is unavailable, and nothing else is used instead', async () => {
    const called = callModel({
      config: config(),
      request: { model: 'second/fable-1' },
      operatorSecrets,
      configurable: { 'ai.credentialRef': 'mine' },
    });

    await expect(called).rejects.toMatchObject({ code: 'credential_unavailable' });
    expect(second.asked).toEqual([]);
  });

  it('is forbidden for a provider that takes none', async () => {
    const called = callModel({
      config: config(),
      request: { model: 'mock/echo' },
      configurable: { 'ai.credentialRef': 'mine' },
    });

    await expect(called).rejects.toMatchObject({
      code: 'credential_forbidden',
      details: { provider: 'mock' },
    });
  });

  it('is required by a provider that has none of the operator', async () => {
    const called = callModel({ config: config({}, { kind: 'openai' }) });

    await expect(called).rejects.toMatchObject({
      code: 'credential_required',
      details: { provider: 'first' },
    });
    expect(first.asked).toEqual([]);
  });
});

describe('a policy', () => {
  it.each([
    [{ mode: 'disabled' }, {}, 'provider_disabled'],
    [{ mode: 'required' }, {}, 'byok_required'],
    [{ mode: 'required' }, { 'ai.credentialRef': 'unset' }, 'byok_required_but_unresolved'],
    [{ mode: 'restricted', allowedModels: ['other-*'] }, {}, 'model_not_allowed'],
    [{ mode: 'restricted' }, {}, 'model_not_allowed'],
  ])('%o refuses %o: %s', async (policy, configurable, reason) => {
    const called = callModel({ config: config({}, { policy }), configurable });

    await expect(called).rejects.toMatchObject({
      code: 'provider_policy_denied',
      retryable: false,
      details: { provider: 'first', reason },
    });
    expect(first.asked).toEqual([]);
  });

  it.each([
    [{ mode: 'optional' }, {}],
    [{ mode: 'required' }, { 'ai.credentialRef': 'mine' }],
    [{ mode: 'restricted', allowedModels: ['other', 'fab*-*'] }, {}],
    [{ mode: 'restricted', allowedModels: ['*'] }, {}],
  ])('%o permits %o', async (policy, configurable) => {
    await callModel({ config: config({}, { policy }), configurable, secrets: { mine: 'my-own-key' } });

    expect(first.asked).toHaveLength(1);
  });
});

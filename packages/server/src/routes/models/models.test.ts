import { type Models, NodeFailure } from '@weft/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const MODELS = '/v1/host/weft/models';

const models: Models = {
  offered: {
    default: 'local/fable-1',
    fallback: ['local/fable-0'],
    providers: [
      {
        name: 'local',
        kind: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:11434/v1',
        takesCredentials: true,
        policy: { mode: 'restricted', allowedModels: ['fable-*'] },
      },
      { name: 'mock', kind: 'mock', takesCredentials: false, policy: { mode: 'optional' } },
    ],
  },
  providerFor: ({ model, operatorSecrets }) => ({
    id: 'local',
    async call() {
      if (model === 'local/silent') {
        const key = await operatorSecrets?.resolve('local');
        throw new NodeFailure('provider_rejected', `It says: bad key ${key}`);
      }
      return {
        text: 'ready',
        model: 'fable-1',
        finishReason: 'stop',
        usage: { promptTokens: 5, completionTokens: 1, totalTokens: 6 },
      };
    },
  }),
};

let at: Harness;
beforeAll(async () => {
  at = await openHarness({}, undefined, undefined, { models });
});
afterAll(() => at.close());

describe('models over HTTP', () => {
  it('are listed with their policies', async () => {
    expect((await at.call('GET', MODELS)).json).toEqual({
      default: 'local/fable-1',
      fallback: ['local/fable-0'],
      providers: [
        {
          name: 'local',
          kind: 'openai-compatible',
          baseUrl: 'http://127.0.0.1:11434/v1',
          takesCredentials: true,
          policy: { mode: 'restricted', allowedModels: ['fable-*'] },
        },
        { name: 'mock', kind: 'mock', takesCredentials: false, policy: { mode: 'optional' } },
      ],
    });
  });

  it('are advertised, with the code by which a policy refuses', async () => {
    const { json } = await at.call('GET', '/.well-known/openwop');

    expect(json['aiProviders']).toEqual({
      supported: ['local', 'mock'],
      byok: ['local'],
      policies: {
        modes: ['disabled', 'optional', 'required', 'restricted'],
        errorCode: 'provider_policy_denied',
      },
    });
  });

  it('are tried by an administrator, and nothing is answered that holds a key', async () => {
    await at.call('POST', '/v1/host/weft/secrets', { body: { id: 'local', value: 'key-of-the-operator' } });

    const tried = await at.call('POST', `${MODELS}:test`, { body: {} });
    const failed = await at.call('POST', `${MODELS}:test`, { body: { model: 'local/silent' } });

    expect(tried.json).toMatchObject({ provider: 'local', model: 'fable-1', usage: { totalTokens: 6 } });
    expect(failed.json).toMatchObject({ error: { code: 'provider_rejected' } });
    expect(JSON.stringify(failed.json)).not.toContain('key-of-the-operator');
    const key = await at.keyWithout('host:admin');
    expect((await at.call('POST', `${MODELS}:test`, { body: {}, key })).status).toBe(403);
    expect((await at.call('POST', `${MODELS}:test`, { body: { modle: 'x' } })).status).toBe(400);
  });

  it('of a run must be of a provider that there is', async () => {
    const { status, json } = await at.call('POST', '/v1/runs', {
      body: { workflowId: 'noop', configurable: { 'ai.provider': 'elsewhere' } },
    });

    expect(status).toBe(400);
    expect(json).toMatchObject({
      error: 'validation_error',
      details: { field: 'configurable.ai.provider', supported: ['local', 'mock'] },
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@weft/protocol';
import { readModelsConfig } from './models-config.ts';

const LOCAL = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: 'secret:local' };
const withLocal = (changes: JsonObject) => ({ providers: { local: { ...LOCAL, ...changes } } });

describe('the models of a config file', () => {
  it('are read as they stand', () => {
    const config = readModelsConfig({ providers: { local: LOCAL }, default: 'local/llama3' });

    expect(config.default).toEqual({ provider: 'local', model: 'llama3' });
    expect(config.providers.get('local')).toMatchObject({
      baseUrl: 'http://127.0.0.1:11434/v1',
      secretId: 'local',
      policy: { mode: 'optional' },
    });
  });

  it.each([
    [{ providers: { local: { ...LOCAL, kind: 'openai' } } }, ''],
    [
      {
        providers: {
          o: { kind: 'openai' },
          a: { kind: 'anthropic' },
          g: { kind: 'google' },
          m: { kind: 'mock' },
        },
      },
      '',
    ],
    ['models', 'models: must be an object'],
    [{}, 'models: the field "providers" is missing'],
    [{ providers: {} }, 'models.providers'],
    [{ providers: { local: LOCAL }, classes: { telepathy: 'local/x' } }, 'models.classes.telepathy'],
    [
      { providers: { local: LOCAL }, classes: { coding: 'other/x' } },
      'models.classes.coding must be PROVIDER',
    ],
    [{ providers: { local: LOCAL }, defualt: 'local/x' }, 'models.defualt: unknown field'],
    [{ providers: { 'Local AI': LOCAL } }, 'models.providers.Local AI is no name'],
    [withLocal({ kind: 'ollama' }), 'models.providers.local.kind must be one of openai, anthropic, google,'],
    [withLocal({ baseURL: 'http://x' }), 'models.providers.local.baseURL: unknown field'],
    [
      withLocal({ baseUrl: 'localhost:11434' }),
      'models.providers.local.baseUrl must be an http or https URL',
    ],
    [withLocal({ baseUrl: 'http://me:pw@127.0.0.1/' }), 'models.providers.local.baseUrl must be'],
    [{ providers: { local: { kind: 'openai-compatible' } } }, 'models.providers.local.baseUrl must be'],
    [withLocal({ apiKey: 'sk-abcdef' }), 'models.providers.local.apiKey must be secret:NAME'],
    [withLocal({ policy: { mode: 'sometimes' } }), 'models.providers.local.policy.mode'],
    [
      withLocal({ policy: { mode: 'optional', allowedModels: [] } }),
      'models.providers.local.policy.allowedModels',
    ],
    [withLocal({ timeoutMs: 0 }), 'models.providers.local.timeoutMs'],
    [{ providers: { m: { kind: 'mock', apiKey: 'secret:x' } } }, 'models.providers.m.apiKey is nothing'],
    [
      { providers: { m: { kind: 'mock', baseUrl: 'http://127.0.0.1' } } },
      'models.providers.m.baseUrl is nothing',
    ],
    [{ providers: { local: LOCAL }, default: 'llama3' }, 'models.default must be PROVIDER/MODEL'],
    [{ providers: { local: LOCAL }, default: 'other/llama3' }, 'models.default must be PROVIDER/MODEL'],
    [{ providers: { local: LOCAL }, fallback: ['local/a', 'b'] }, 'models.fallback.1 must be PROVIDER/MODEL'],
  ])('%j: %s', (given, message) => {
    const read = () => readModelsConfig(given);

    if (message === '') expect(read).not.toThrow();
    else expect(read).toThrow(message);
  });

  it('never repeat what may be a key', () => {
    expect(() => readModelsConfig(withLocal({ apiKey: 'sk-abcdef' }))).not.toThrow(/sk-abcdef/);
  });
});

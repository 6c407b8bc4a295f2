import {
  compileValidator,
  type ErrorCode,
  isJsonObject,
  type Json,
  type JsonObject,
  nameOf,
} from '@weft/protocol';
import { Type } from 'typebox';
import { NodeFailure } from '../model/node-type.ts';
import {
  closingMeta,
  type FinishReason,
  type ModelContext,
  type ModelProvider,
  type ModelReply,
  type Models,
} from '../ports/models.ts';

/**
 * Models that answer as the run's options say: `configurable.mockProvider {id, config}`, for test keys only. Each is one row:
 * what its config may hold, and how it answers.
 */
interface MockKind {
  readonly config: ReturnType<typeof closed>;
  answer(config: JsonObject, context: ModelContext): Promise<ModelReply>;
}

const optional = Type.Optional;
const name = nameOf({ minLength: 1 });
const closed = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Object(properties, { additionalProperties: false });

const DEFAULT_MODEL = 'mock-stream-text-v1';
const finishReason = Type.Enum(['stop', 'length', 'tool_calls', 'content_filter']);
const usage = closed({
  promptTokens: Type.Integer({ minimum: 0 }),
  completionTokens: Type.Integer({ minimum: 0 }),
  totalTokens: optional(Type.Integer({ minimum: 0 })),
});
const pace = Type.Integer({ minimum: 0, maximum: 5000 });

const KINDS: Readonly<Record<string, MockKind>> = {
  'stream-text': {
    config: closed({
      tokens: optional(Type.Array(Type.String(), { minItems: 1, maxItems: 10_000 })),
      delayMsPerToken: optional(pace),
      finishReason: optional(finishReason),
      usage: optional(usage),
      model: optional(name),
    }),
    async answer(config, context) {
      const tokens = (config['tokens'] ?? ['mock', ' response']) as string[];
      const reply = replyOf(config, tokens.join(''), tokens.length, 'stop');
      for (const [index, chunk] of tokens.entries()) {
        await wait(Number(config['delayMsPerToken'] ?? 0), context.signal);
        const isLast = index === tokens.length - 1;
        context.emit({ chunk, isLast, ...(isLast && { meta: closingMeta(reply) }) });
      }
      return reply;
    },
  },
  'tool-calls': {
    config: closed({
      toolCalls: optional(
        Type.Array(
          closed({
            id: name,
            name,
            arguments: Type.String(),
          }),
          { minItems: 1, maxItems: 100 },
        ),
      ),
      usage: optional(usage),
      model: optional(name),
    }),
    answer(config, context) {
      const toolCalls = (config['toolCalls'] ?? [
        { id: 'call-0', name: 'mock_tool', arguments: '{}' },
      ]) as unknown as NonNullable<ModelReply['toolCalls']>;
      const reply = { ...replyOf(config, '', toolCalls.length, 'tool_calls'), toolCalls };
      context.emit({ chunk: '', isLast: true, meta: closingMeta(reply) });
      return Promise.resolve(reply);
    },
  },
  error: {
    config: closed({
      code: optional(nameOf({ minLength: 1, maxLength: 128 })),
      message: optional(Type.String({ minLength: 1, maxLength: 1024 })),
      retryable: optional(Type.Boolean()),
      failAfterMs: optional(pace),
    }),
    async answer({ code, message, retryable, failAfterMs }, { signal }) {
      await wait(Number(failAfterMs ?? 0), signal);
      throw new NodeFailure(
        typeof code === 'string' ? code : 'provider_error',
        typeof message === 'string' ? message : 'The mock provider failed, as its script says.',
        { retryable: retryable === true },
      );
    },
  },
  'usage-only': {
    config: closed({ usage: optional(usage), model: optional(name) }),
    answer: (config) => Promise.resolve(replyOf(config, '', 0, 'stop')),
  },
};

export const MOCK_PROVIDERS = Object.keys(KINDS);

/** What is wrong with `configurable.mockProvider`; undefined when nothing is. */
export function mockProviderProblem(
  asked: Json,
): { readonly code: ErrorCode; readonly message: string; readonly path: string } | undefined {
  if (!isJsonObject(asked) || typeof asked['id'] !== 'string') {
    return {
      code: 'validation_error',
      message: 'configurable.mockProvider must be {id, config?}.',
      path: '',
    };
  }
  const kind = Object.hasOwn(KINDS, asked['id']) ? KINDS[asked['id']] : undefined;
  if (kind === undefined) {
    const message = `This host has no such mock provider; it has ${MOCK_PROVIDERS.join(', ')}.`;
    return { code: 'unsupported_mock_provider', message, path: '.id' };
  }
  const [problem] = compileValidator(kind.config)(asked['config'] ?? {});
  if (problem === undefined) return undefined;
  const path = `.config${problem.path.replaceAll('/', '.')}`;
  return { code: 'validation_error', message: `configurable.mockProvider${path} ${problem.message}.`, path };
}

/** A run whose options name a mock is answered by it, every other one by the host's own models. */
export function withMockModels(own: Models): Models {
  return {
    ...(own.offered !== undefined && { offered: own.offered }),
    providerFor(choice) {
      const asked = choice.configurable['mockProvider'];
      return isJsonObject(asked) ? mockProvider(asked) : own.providerFor(choice);
    },
  };
}

function mockProvider(asked: JsonObject): ModelProvider {
  const id = String(asked['id']);
  const kind = KINDS[id];
  const config = isJsonObject(asked['config']) ? asked['config'] : {};
  return {
    id: `mock:${id}`,
    call: (_request, context) =>
      kind === undefined
        ? Promise.reject(new NodeFailure('unsupported_mock_provider', 'This host has no such mock provider.'))
        : kind.answer(config, context),
  };
}

function replyOf(config: JsonObject, text: string, tokens: number, finish: FinishReason): ModelReply {
  const given = isJsonObject(config['usage']) ? config['usage'] : {};
  const promptTokens = Number(given['promptTokens'] ?? 1);
  const completionTokens = Number(given['completionTokens'] ?? tokens);
  return {
    text,
    model: typeof config['model'] === 'string' ? config['model'] : DEFAULT_MODEL,
    finishReason: (config['finishReason'] as FinishReason | undefined) ?? finish,
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: Number(given['totalTokens'] ?? promptTokens + completionTokens),
    },
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new NodeFailure('provider_aborted', 'The call was stopped.'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

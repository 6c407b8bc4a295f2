import { nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import { type EffectInput, type EffectNodeType, NodeFailure } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';
import { memoryRefConfig, memoryRefOf, memoryWritten } from './memory-ref.ts';

export const memoryWriteNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'weft.memory.write',
  title: 'Memory write',
  summary:
    'Writes an entry to a memory that outlives the run; secrets and sensitive values in it are masked first.',
  config: closedConfig({
    memoryRef: memoryRefConfig,
    content: Type.Optional(Type.String()),
    tags: Type.Optional(
      Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 64, uniqueItems: true }),
    ),
    ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    /** false keeps the content as it is, though it is made from something sensitive. */
    sensitive: Type.Optional(Type.Literal(false)),
  }),
  outputPorts: ['output', 'memoryId', 'memoryRef'],
  dependsOn: () => ['memoryRef', 'content', 'input'],
  perform: async (input, { memory, invocationId }) => {
    const memoryRef = memoryRefOf(input);
    const { tags, ttlMs, sensitive } = input.config;
    const entry = await memory.write(memoryRef, {
      // The same on every attempt, so that a repeated effect writes one entry; another in every run.
      id: invocationId,
      content: contentOf(input),
      ...(sensitive === false && { sensitive }),
      ...(Array.isArray(tags) && { tags: tags.map(String) }),
      ...(typeof ttlMs === 'number' && { expiresAt: Date.now() + ttlMs }),
    });
    return {
      outputs: { memoryId: entry.id, memoryRef, output: entry.id },
      events: [memoryWritten(input, memoryRef, entry)],
    };
  },
};

/** Text as it is, other JSON as its text. */
function contentOf({ inputs: given, shownInputs, config }: EffectInput): string {
  const inputs = config['sensitive'] === false ? given : (shownInputs ?? given);
  const content = inputs['content'] ?? config['content'] ?? inputs['input'];
  if (content === undefined || content === null) {
    throw new NodeFailure(
      'validation_error',
      'There is nothing to remember: set config.content, or connect port "content".',
      { details: { field: 'content' } },
    );
  }
  return typeof content === 'string' ? content : JSON.stringify(content);
}

import { type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import {
  type EffectContext,
  type EffectInput,
  type EffectNodeType,
  type MemoryEntry,
  type NewMemoryEntry,
  NodeFailure,
  type NodeResult,
} from '../model/node-type.ts';
import { closedConfig } from '../nodes/config/config-schema.ts';
import { entryJson, memoryWritten } from '../nodes/memory/memory-ref.ts';

const MEMORY_ACTIONS = ['write-then-read', 'redaction-probe', 'ttl-probe', 'cross-tenant-probe'] as const;
type MemoryAction = (typeof MEMORY_ACTIONS)[number];

const HOUR_MS = 3_600_000;

/**
 * What `core.identity` does in the suite's workflows when its config has a `memoryAction`. It has no type id of its own:
 * `core.identity` turns into it.
 */
export const memoryProbe: EffectNodeType = {
  kind: 'effect',
  typeId: 'core.identity',
  title: 'Memory probe',
  summary: 'Uses the memory of an agent as the protocol’s suite asks, and tells in variables what it found.',
  config: closedConfig({
    memoryAction: Type.Enum([...MEMORY_ACTIONS]),
    byokSecretId: Type.Optional(nameOf({ minLength: 1, maxLength: 128 })),
    probeMemoryRef: Type.Optional(nameOf({ maxLength: 1024 })),
  }),
  conformanceOnly: true,
  perform: (input, context) => PROBES[actionOf(input)](input, context),
};

type Probe = (input: EffectInput, context: EffectContext) => Promise<NodeResult>;

const PROBES: Readonly<Record<MemoryAction, Probe>> = {
  async 'write-then-read'(input, context) {
    const ref = ownRef(input);
    const written = await write(context, ref, 0, { content: 'a memory that is read back', tags: ['probe'] });
    return result(input, ref, [written], { memoryReadback: await readBack(context, ref, written) });
  },

  async 'redaction-probe'(input, context) {
    const ref = ownRef(input);
    const secret = await context.secrets.resolve(secretIdOf(input));
    const written = await write(context, ref, 0, {
      content: `the key is ${secret}, as agreed`,
      tags: ['probe'],
    });
    return result(input, ref, [written], { memoryReadback: await readBack(context, ref, written) });
  },

  async 'ttl-probe'(input, context) {
    const ref = ownRef(input);
    const now = Date.now();
    const entries = [
      await write(context, ref, 0, { content: 'this one has expired', expiresAt: now - 1 }),
      await write(context, ref, 1, { content: 'this one has not', expiresAt: now + HOUR_MS }),
    ];
    const list = await context.memory.list(ref);
    return result(input, ref, entries, { memoryList: list.map(entryJson) });
  },

  async 'cross-tenant-probe'(input, context) {
    const foreign = input.config['probeMemoryRef'];
    const list = typeof foreign === 'string' ? await context.memory.list(foreign) : [];
    return result(input, '', [], { crossTenantProbe: list.map(entryJson) });
  },
};

function actionOf({ config }: EffectInput): MemoryAction {
  const action = MEMORY_ACTIONS.find((known) => known === config['memoryAction']);
  if (action !== undefined) return action;
  throw new NodeFailure('validation_error', `memoryAction must be one of ${MEMORY_ACTIONS.join(', ')}.`, {
    details: { field: 'memoryAction' },
  });
}

function ownRef({ agent, nodeId }: EffectInput): string {
  return agent?.memoryRef ?? `conformance/${nodeId}`;
}

function secretIdOf({ config }: EffectInput): string {
  const secretId = config['byokSecretId'];
  if (typeof secretId === 'string') return secretId;
  throw new NodeFailure('validation_error', 'The redaction probe needs config.byokSecretId.', {
    details: { field: 'byokSecretId' },
  });
}

function write(
  { memory, invocationId }: EffectContext,
  ref: string,
  ordinal: number,
  entry: Omit<NewMemoryEntry, 'id'>,
): Promise<MemoryEntry> {
  return memory.write(ref, { id: `${invocationId}.${ordinal}`, ...entry });
}

async function readBack({ memory }: EffectContext, ref: string, written: MemoryEntry): Promise<JsonObject> {
  const found = (await memory.list(ref)).find((entry) => entry.id === written.id);
  if (found === undefined) throw new NodeFailure('node_failed', 'The entry was written and is not there.');
  return entryJson(found);
}

function result(
  input: EffectInput,
  ref: string,
  written: readonly MemoryEntry[],
  variables: JsonObject,
): NodeResult {
  return {
    outputs: { ...input.inputs },
    variables,
    events: written.map((entry) => memoryWritten(input, ref, entry)),
  };
}

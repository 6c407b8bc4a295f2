import { TYPE_ID_PATTERN } from '@weft/protocol';
import { type Static, type TProperties, Type } from 'typebox';
import { AGENT_LIMITS, AgentSchema } from './agent-schema.ts';

/** `pack.json`. Every object is closed: a misspelt field is refused by name. */

const optional = Type.Optional;

function closed<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const uri = Type.String({ format: 'uri', maxLength: 2048 });
/** Of a file in the archive. */
const path = text(255);
const requirement = text(256);
const requirements = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: 100,
  propertyNames: { type: 'string', minLength: 1, maxLength: 256 },
  additionalProperties: requirement,
});

const SecretSchema = closed({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }),
  kind: Type.Enum(['ai-provider', 'api-key', 'oauth-token', 'custom']),
  provider: optional(text(128)),
  scope: optional(Type.Enum(['tenant', 'user', 'run'])),
});

const NodeSchema = closed({
  typeId: Type.String({ pattern: TYPE_ID_PATTERN, maxLength: 128 }),
  version: text(128),
  category: Type.Enum(['chat', 'control', 'data', 'canvas', 'coordination', 'integration']),
  role: text(64),
  label: optional(text(128)),
  description: optional(Type.String({ maxLength: 1024 })),
  capabilities: optional(
    Type.Array(Type.Enum(['streamable', 'cacheable', 'side-effectful', 'mcp-exportable']), {
      uniqueItems: true,
    }),
  ),
  configSchemaRef: optional(path),
  inputSchemaRef: optional(path),
  outputSchemaRef: optional(path),
  outputs: optional(
    Type.Unsafe<Readonly<Record<string, { readonly sensitive?: boolean }>>>({
      type: 'object',
      maxProperties: 100,
      additionalProperties: closed({ sensitive: optional(Type.Boolean()) }),
    }),
  ),
  envelopeContractRef: optional(path),
  artifact: optional(
    closed({
      typeId: text(128),
      syncOn: optional(Type.Enum(['completion', 'approval', 'manual'])),
      supportsCheckpoint: optional(Type.Boolean()),
    }),
  ),
  mcp: optional(closed({ exposeAsTool: optional(Type.Boolean()), toolName: optional(text(128)) })),
  requiresSecrets: optional(Type.Array(SecretSchema, { maxItems: 32 })),
});

export const ManifestSchema = closed({
  // Their forms have codes of their own.
  name: text(1024),
  version: text(1024),
  kind: optional(Type.Literal('node')),
  description: optional(Type.String({ maxLength: 1024 })),
  author: optional(text(256)),
  license: optional(text(128)),
  homepage: optional(uri),
  repository: optional(uri),
  keywords: optional(Type.Array(text(64), { maxItems: 50 })),
  engines: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    properties: { openwop: requirement },
    required: ['openwop'],
    maxProperties: 16,
    additionalProperties: requirement,
  }),
  dependencies: optional(requirements),
  peerDependencies: optional(requirements),
  /** Of a capability that the pack can do without. */
  peerDependenciesMeta: optional(
    Type.Unsafe<Readonly<Record<string, { readonly optional?: boolean }>>>({
      type: 'object',
      maxProperties: 100,
      propertyNames: { type: 'string', minLength: 1, maxLength: 256 },
      additionalProperties: closed({ optional: optional(Type.Boolean()) }),
    }),
  ),
  nodes: optional(Type.Array(NodeSchema, { maxItems: 200 })),
  agents: optional(Type.Array(AgentSchema, { maxItems: AGENT_LIMITS.agents })),
  runtime: closed({
    language: Type.Enum(['javascript', 'python', 'go', 'wasm', 'remote']),
    entry: path,
    format: optional(Type.Enum(['esm', 'cjs', 'wheel', 'binary', 'shared-library', 'wasm'])),
    minRuntimeVersion: optional(text(64)),
    // The RFC of the ABI has it, the published schema does not.
    wasm: optional(
      closed({
        abiVersion: Type.Integer({ minimum: 1 }),
        memoryPagesInitial: optional(Type.Integer({ minimum: 0, maximum: 65_536 })),
        memoryPagesMax: optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
      }),
    ),
  }),
  signing: optional(
    closed({
      publicKeyRef: path,
      signatureRef: path,
      method: Type.Enum(['manual', 'sigstore']),
    }),
  ),
});

/** A pack has nodes, agents, or both. */
export type PackManifest = Static<typeof ManifestSchema> & { readonly nodes: readonly PackNode[] };
export type PackNode = Static<typeof NodeSchema>;
export type PackLanguage = PackManifest['runtime']['language'];

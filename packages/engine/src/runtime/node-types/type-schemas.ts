import {
  type ClientSchema,
  compileClientSchema,
  createAllowance,
  fieldName,
  HostError,
  isHostError,
  isJsonObject,
  isName,
  type JsonObject,
  type NodeTypeDocument,
} from '@weft/protocol';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';

/** What a user's node type takes and gives, by member of its document. */
const MEMBERS = ['config', 'inputs', 'outputs'] as const;
type Member = (typeof MEMBERS)[number];

type Described = Pick<NodeTypeDocument, Member | 'typeId'>;

/** Made ready to hold values against them. A member that is not in `properties` is refused unless the schema says otherwise. */
export type CompiledSchemas = Readonly<Record<Member, ClientSchema>>;

export interface TypeSchemas {
  of(type: Described & { readonly digest: string }): CompiledSchemas;
}

/** Measured, per subschema. */
const SUBSCHEMA_BYTES = 900;
const KEPT_BYTES = 64 * 1024 * 1024;

/** Schemas by digest, which names their content: types of different tenants share them. */
export function createTypeSchemas(): TypeSchemas {
  const kept = createBoundedCache<string, CompiledSchemas>(KEPT_BYTES);
  return {
    of(type) {
      const known = kept.get(type.digest);
      if (known !== undefined) return known;
      const allowance = createAllowance();
      const compile = (member: Member): ClientSchema =>
        compileClientSchema(closedSchema(type[member]), { allowance });
      const made = { config: compile('config'), inputs: compile('inputs'), outputs: compile('outputs') };
      kept.set(type.digest, made, SUBSCHEMA_BYTES * (allowance.taken('subschemas') + MEMBERS.length));
      return made;
    },
  };
}

const NOTHING: JsonObject = { type: 'object', properties: {} };

/** Ports and config keys are named: what a schema does not mention, and does not let in by a rule of its own, is a mistake. */
function closedSchema(schema: JsonObject = NOTHING): JsonObject {
  const says =
    Object.hasOwn(schema, 'additionalProperties') || Object.hasOwn(schema, 'unevaluatedProperties');
  return says ? schema : { ...schema, unevaluatedProperties: false };
}

/** Throws HostError for a schema that cannot be used, with its place; `path` is the type's own place. */
export function* checkSchemas(type: Described, path: string): CooperativeTask<void> {
  const allowance = createAllowance();
  for (const member of MEMBERS) {
    yield;
    const schema = type[member];
    if (schema === undefined) continue;
    const place = `${path}/${member}`;
    if (schema['type'] !== 'object')
      throw notUsable(type, member, `${place}/type`, 'its "type" must be "object".');
    try {
      compileClientSchema(closedSchema(schema), { allowance });
    } catch (error) {
      if (!isHostError(error)) throw error;
      const { field, ...bounds } = error.details ?? {};
      throw notUsable(
        type,
        member,
        `${place}${typeof field === 'string' ? field : ''}`,
        error.message,
        bounds,
      );
    }
    if (member !== 'config') checkPortNames(type, member, place);
  }
}

const MAX_PORT_NAME = 128;

function checkPortNames(type: Described, member: Member, place: string): void {
  for (const name of portsOf(type[member]).named) {
    if (name.length > 0 && name.length <= MAX_PORT_NAME && isName(name)) continue;
    const rule = `a port's name has 1 to ${MAX_PORT_NAME} characters, and no control characters.`;
    throw notUsable(type, member, `${place}/properties`, rule);
  }
}

function notUsable(
  { typeId }: Described,
  member: Member,
  path: string,
  reason: string,
  bounds: JsonObject = {},
): HostError {
  return new HostError('validation_error', `Node type "${typeId}", ${member} (${path}): ${reason}`, {
    field: fieldName(path),
    path,
    typeId,
    ...bounds,
  });
}

/** What the schema of inputs or outputs says about ports. */
export interface Ports {
  /** Those in `properties`. */
  readonly named: readonly string[];
  readonly required: readonly string[];
  /** True where there may be others. */
  readonly isOpen: boolean;
}

/** Keywords by which members other than those in `properties` are let in. */
const OPENING = [
  'patternProperties',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
];

export function portsOf(schema: JsonObject = NOTHING): Ports {
  const { properties, required } = schema;
  const letsIn = ['additionalProperties', 'unevaluatedProperties'].some(
    (keyword) => Object.hasOwn(schema, keyword) && schema[keyword] !== false,
  );
  return {
    named: isJsonObject(properties) ? Object.keys(properties) : [],
    required: Array.isArray(required) ? required.map(String) : [],
    isOpen: letsIn || OPENING.some((keyword) => Object.hasOwn(schema, keyword)),
  };
}

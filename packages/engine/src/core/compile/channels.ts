import type { ClientSchema, JsonObject, WorkflowDefinition } from '@weft/protocol';
import type { Problems } from './problems.ts';
import type { ChannelPlan, SchemaCompiler } from './plan.ts';
import { isReducer, REDUCERS } from '../channels/reducers.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Declared channels, with everything a write has to be checked against. */
export function* compileChannels(
  definition: WorkflowDefinition,
  schemas: SchemaCompiler,
  problems: Problems,
): CooperativeTask<Map<string, ChannelPlan>> {
  const channels = new Map<string, ChannelPlan>();
  const variables = new Set(definition.variables.map((variable) => variable.name));
  for (const [name, declared] of Object.entries(definition.channels ?? {})) {
    yield;
    const path = `/channels/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const { reducer } = declared;
    if (!isReducer(reducer)) {
      const known = REDUCERS.join(', ');
      problems.error(
        `${path}/reducer`,
        'unsupported_reducer',
        `This host has no reducer "${reducer}"; it has ${known}.`,
      );
      continue;
    }
    if (variables.has(name)) {
      problems.error(path, 'name_taken', `"${name}" is declared as a channel and as a variable; rename one.`);
    }
    const schema = compileSchema(declared.schema, `${path}/schema`, schemas, problems);
    channels.set(name, {
      name,
      reducer,
      schemaVersion: declared.schemaVersion ?? 1,
      compatibleWith: declared.compatibleWith ?? [],
      ...(declared.sensitive !== undefined && { sensitive: declared.sensitive }),
      ...(schema !== undefined && { schema }),
      ...(declared.default !== undefined && { defaultValue: declared.default }),
      ...(declared.maxSize !== undefined && { maxSize: declared.maxSize }),
      ...(declared.ttlMs !== undefined && { ttlMs: declared.ttlMs }),
      ...accessOf(declared.access),
    });
  }
  return channels;
}

type Access = NonNullable<WorkflowDefinition['channels']>[string]['access'];

function accessOf(access: Access): Pick<ChannelPlan, 'writers' | 'readers'> {
  if (access === undefined || access === 'public') return {};
  if (access === 'private') return { writers: [], readers: [] };
  const { writers, readers } = access;
  return { ...(writers !== undefined && { writers }), ...(readers !== undefined && { readers }) };
}

function compileSchema(
  schema: JsonObject | undefined,
  path: string,
  schemas: SchemaCompiler,
  problems: Problems,
): ClientSchema | undefined {
  if (schema === undefined) return undefined;
  try {
    return schemas.schema(schema);
  } catch (error) {
    problems.refused(path, 'schema', error);
    return undefined;
  }
}

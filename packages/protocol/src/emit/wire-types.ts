import type { TSchema } from 'typebox';
import { AnnotationCreateSchema, AnnotationSchema } from '../documents/annotations.ts';
import { AuditVerificationSchema } from '../documents/audit.ts';
import { CapabilitiesSchema } from '../documents/capabilities.ts';
import { DebugBundleSchema } from '../documents/debug-bundle.ts';
import { AncestrySchema, ForkRunResponseSchema } from '../documents/forks.ts';
import { RunSummarySchema } from '../documents/host-extension.ts';
import { RunOptionsSchema, RunSnapshotSchema } from '../documents/runs.ts';
import {
  NodeTypeDocumentSchema,
  RegisteredWorkerSchema,
  RegisterWorkerSchema,
  TaskErrorSchema,
  TaskReceiptSchema,
  TaskReportSchema,
  WorkerMessageSchema,
} from '../documents/workers.ts';
import { DeadDeliverySchema } from '../documents/webhooks.ts';
import { WorkflowDefinitionSchema } from '../documents/workflow.ts';
import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import { ClusterNodeSchema } from '../routes/cluster-routes.ts';

/**
 * The types of documents and payloads written out, so that a client has them without the schemas, whose types need the package
 * that makes them. A test compares each with the type of its schema.
 */

/** In the order of their names. */
const DOCUMENTS: Readonly<Record<string, TSchema>> = {
  Ancestry: AncestrySchema,
  Annotation: AnnotationSchema,
  AnnotationCreate: AnnotationCreateSchema,
  AuditVerificationDocument: AuditVerificationSchema,
  Capabilities: CapabilitiesSchema,
  ClusterNodeDocument: ClusterNodeSchema,
  DeadDelivery: DeadDeliverySchema,
  DebugBundle: DebugBundleSchema,
  ForkRunResponse: ForkRunResponseSchema,
  NodeTypeDocument: NodeTypeDocumentSchema,
  RegisteredWorker: RegisteredWorkerSchema,
  RegisterWorkerRequest: RegisterWorkerSchema,
  RunOptions: RunOptionsSchema,
  RunSnapshot: RunSnapshotSchema,
  RunSummary: RunSummarySchema,
  TaskError: TaskErrorSchema,
  TaskReceipt: TaskReceiptSchema,
  TaskReport: TaskReportSchema,
  WorkerMessage: WorkerMessageSchema,
  WorkflowDefinition: WorkflowDefinitionSchema,
};

/** Whose readers meet members that the schema does not list, and may look at them. */
const WITH_EXTRAS = new Set(['Capabilities', 'DebugBundle', 'RunSnapshot']);

const JSON_MODULE = './json/json.ts';

/** The text of src/wire-types.ts. */
export function renderWireTypes(): string {
  const documents = Object.entries(DOCUMENTS).map(
    ([name, schema]) =>
      `export type ${name} = ${typeOf(schema, '')}${WITH_EXTRAS.has(name) ? ' & Extras' : ''};\n`,
  );
  const payloads = [...EVENT_CATALOGUE, ...WEFT_EVENTS].map(
    ({ type, payload, summary }) => `  /** ${summary} */\n  '${type}': ${typeOf(payload, '  ')};\n`,
  );
  return [
    '// Generated from the schemas of documents and events; change those, then run `npm run docs`.\n',
    `import type { Json, JsonObject } from '${JSON_MODULE}';\n`,
    '/** What extensions add to an answer. */\ninterface Extras {\n  readonly [extra: string]: unknown;\n}\n',
    ...documents,
    `/** The payload of each event type: those of the protocol, then those of this host. */\nexport type EventPayloads = {\n${payloads.join('')}};\n`,
  ].join('\n');
}

/** A schema as a TypeScript type. */
export function renderType(schema: TSchema, indent = ''): string {
  return typeOf(schema, indent);
}

/** What our schemas are made of; anything else must be added here before it is used. */
interface Shape {
  readonly type?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Shape;
  readonly description?: string;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  integer: 'number',
  null: 'null',
  number: 'number',
  string: 'string',
};

function typeOf(schema: Shape, indent: string): string {
  const { anyOf, items, type } = schema;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (anyOf !== undefined) return union(anyOf.map((each) => typeOf(each, indent)));
  if (items !== undefined) return `Array<${typeOf(items, indent)}>`;
  if (type === 'object') return objectType(schema, indent);
  if (type === undefined) return 'Json';
  const primitive = PRIMITIVES[type];
  if (primitive === undefined) throw new Error(`no type is known for a schema of type ${type}`);
  return primitive;
}

/** Names that are also any string are any string. */
function union(types: readonly string[]): string {
  const wide = types.includes('string') ? types.filter((type) => !type.startsWith("'")) : types;
  return wide.join(' | ');
}

function objectType({ properties, required = [], additionalProperties }: Shape, indent: string): string {
  if (properties === undefined || Object.keys(properties).length === 0) {
    return typeof additionalProperties === 'object'
      ? `Record<string, ${typeOf(additionalProperties, indent)}>`
      : 'JsonObject';
  }
  const deeper = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const key = /^\w+$/.test(name) ? name : literal(name);
    const comment = member.description === undefined ? '' : `${deeper}/** ${member.description} */\n`;
    return `${comment}${deeper}${key}${required.includes(name) ? '' : '?'}: ${typeOf(member, deeper)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function literal(value: string | number | boolean): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

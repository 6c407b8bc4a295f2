import {
  AnnotationCreateSchema,
  BulkCancelRequestSchema,
  CancelResponseSchema,
  CapabilitiesSchema,
  compileValidator,
  CreateRunResponseSchema,
  CreateRunSchema,
  ErrorEnvelopeSchema,
  EVENT_TYPES,
  eventType,
  ForkRunSchema,
  INTERRUPT_KINDS,
  type JsonObject,
  LimitsSchema,
  OpenQuestionSchema,
  PauseRequestSchema,
  PollResponseSchema,
  RegisterWebhookSchema,
  ResolveRequestSchema,
  ResumeRequestSchema,
  RUN_STATUSES,
  RunEventDocSchema,
  RunOptionsSchema,
  RunSnapshotSchema,
} from '@weft/protocol';
import { PROFILES } from '../../requirements/profiles.ts';
import type { Check } from '../../suite/check.ts';
import { DOCUMENTED_BODIES, UNDECLARED_BODY } from './bodies.ts';

type Schema = Parameters<typeof compileValidator>[0];

const EIGHT_KINDS = [
  'approval',
  'clarification',
  'external-event',
  'custom',
  'conversation.start',
  'conversation.exchange',
  'conversation.close',
  'low-confidence',
];

const VENDOR_TYPES = ['acme.thing', 'acme.deep.thing', 'my-host.cache_hit', 'x2.Y'];
const NO_TYPES = [
  'openwop.thing',
  'core.thing',
  'community.thing',
  'vendor.acme.thing',
  'private.acme.thing',
  'local.thing',
  'thing',
  'Acme.thing',
  'acme.',
  'acme thing',
];

const EVENT: JsonObject = {
  eventId: 'e-0',
  runId: 'r',
  type: 'run.started',
  payload: {},
  timestamp: '2026-01-31T10:00:00Z',
  sequence: 0,
};
const SNAPSHOT: JsonObject = { runId: 'r', workflowId: 'w', status: 'running' };
const LIMITS: JsonObject = { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 };
const DISCOVERY: JsonObject = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: LIMITS,
};
const CHUNK: JsonObject = { nodeId: 'ai', runId: 'r', chunk: 'Hello', isLast: false };
const GRPC: JsonObject = { supported: true, service: 'openwop.v1.Engine', tls: 'required' };

/** What clients send, each with a body that is right. */
const SUBMITTED: Readonly<Record<string, readonly [Schema, JsonObject]>> = {
  'a request for a run': [CreateRunSchema, { workflowId: 'w' }],
  'a fork': [ForkRunSchema, { mode: 'branch', fromSeq: 0 }],
  'a pause': [PauseRequestSchema, {}],
  'a resume': [ResumeRequestSchema, {}],
  'a bulk cancel': [BulkCancelRequestSchema, { runIds: ['r'] }],
  'an answer to an interrupt': [ResolveRequestSchema, { resumeValue: { action: 'accept' } }],
  'an annotation': [AnnotationCreateSchema, { signal: { kind: 'flag' } }],
  'a webhook': [RegisterWebhookSchema, { url: 'https://example.com/', events: ['run.completed'] }],
};

/** What hosts send, each with a document that is right. */
const EMITTED: Readonly<Record<string, readonly [Schema, JsonObject]>> = {
  'an event': [RunEventDocSchema, EVENT],
  'a snapshot': [RunSnapshotSchema, SNAPSHOT],
  discovery: [CapabilitiesSchema, DISCOVERY],
  'a created run': [
    CreateRunResponseSchema,
    { runId: 'r', status: 'pending', eventsUrl: 'https://example.com/v1/runs/r/events' },
  ],
  'a poll': [
    PollResponseSchema,
    {
      runId: 'r',
      events: [EVENT],
      isComplete: true,
      lastEventSeq: 0,
      runStatus: 'completed',
      isTerminal: true,
    },
  ],
  'an answer to a cancel': [CancelResponseSchema, { runId: 'r', status: 'cancelling' }],
};

const EXTRA = { weftAdded: true };

/** Offline checks look at documents alone; nothing in them waits. */
function offline(check: Omit<Check, 'isOffline' | 'run'>, look: (context: OfflineContext) => void): Check {
  return {
    ...check,
    isOffline: true,
    run: (context) => {
      look(context);
      return Promise.resolve();
    },
  };
}

type OfflineContext = Pick<Parameters<Check['run']>[0], 'expect'>;

export const SCHEMA_CHECKS: readonly Check[] = [
  offline(
    {
      id: 'wire-shape/create-run-schema',
      title: 'the composed schema of a request for a run can be satisfied, and is closed',
      proves: ['WIRE-1', 'WIRE-2', 'WIRE-3'],
    },
    ({ expect }) => {
      for (const body of DOCUMENTED_BODIES)
        expect.equal(problems(CreateRunSchema, body), [], `the documented body ${shown(body)} is valid`);
      expect.that(!fits(CreateRunSchema, UNDECLARED_BODY), 'a body with an undeclared member is not valid');
      expect.that(fits(RunOptionsSchema, { ...EXTRA, tags: [] }), 'the run options alone are open');
    },
  ),
  offline(
    {
      id: 'wire-shape/statuses-schema',
      title: 'a snapshot can have every status, cancelling among them',
      proves: ['WIRE-6'],
    },
    ({ expect }) => {
      for (const status of [...RUN_STATUSES, 'cancelling', 'waiting-external'])
        expect.that(fits(RunSnapshotSchema, { ...SNAPSHOT, status }), `a snapshot can be ${status}`);
      expect.that(!fits(RunSnapshotSchema, { ...SNAPSHOT, status: 'asleep' }), 'a snapshot cannot be asleep');
    },
  ),
  offline(
    {
      id: 'wire-shape/event-types-schema',
      title: 'events have types of the catalogue or of vendors, and their document is open',
      proves: ['WIRE-8', 'WIRE-9'],
    },
    ({ expect }) => {
      for (const type of [...EVENT_TYPES, ...VENDOR_TYPES])
        expect.that(fits(RunEventDocSchema, { ...EVENT, type }), `an event can be of type ${type}`);
      for (const type of NO_TYPES)
        expect.that(!fits(RunEventDocSchema, { ...EVENT, type }), `an event cannot be of type "${type}"`);
      expect.that(fits(RunEventDocSchema, { ...EVENT, ...EXTRA }), 'an event can have a member added later');
      for (const name of Object.keys(EVENT))
        expect.that(!fits(RunEventDocSchema, omit(EVENT, name)), `an event cannot be without ${name}`);
    },
  ),
  offline(
    {
      id: 'wire-shape/chunk-schema',
      title: 'a chunk has its four required members, and may have others',
      proves: ['WIRE-12', 'WIRE-38'],
    },
    ({ expect }) => {
      const schema = payloadOf('output.chunk');
      expect.that(fits(schema, CHUNK), 'a chunk with the four members is valid');
      expect.that(fits(schema, { ...CHUNK, channel: 'main' }), 'a chunk can have a channel');
      for (const name of Object.keys(CHUNK))
        expect.that(!fits(schema, omit(CHUNK, name)), `a chunk cannot be without ${name}`);
      const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
      for (const finishReason of ['stop', 'length', 'tool_calls', 'content_filter']) {
        const meta = { finishReason, model: 'm', usage, provider: 'p', providerExtensions: {} };
        expect.equal(problems(schema, { ...CHUNK, meta }), [], `a chunk can end with ${finishReason}`);
      }
    },
  ),
  offline(
    {
      id: 'wire-shape/interrupt-kinds-schema',
      title: 'the kinds of interrupts are the same eight wherever they are listed',
      proves: ['WIRE-15'],
    },
    ({ expect }) => {
      expect.equal(
        [...INTERRUPT_KINDS].sort(),
        [...EIGHT_KINDS].sort(),
        'there are eight kinds of interrupts',
      );
      const requested = payloadOf('interrupt.requested');
      for (const kind of EIGHT_KINDS) {
        const payload = { kind, key: 'k', data: {} };
        expect.that(fits(requested, payload), `interrupt.requested can be of kind ${kind}`);
        expect.that(fits(OpenQuestionSchema, payload), `a link can show an interrupt of kind ${kind}`);
      }
      const strange = { kind: 'conversation', key: 'k', data: {} };
      expect.that(!fits(requested, strange), 'interrupt.requested cannot be of another kind');
      expect.that(!fits(OpenQuestionSchema, strange), 'a link cannot show an interrupt of another kind');
    },
  ),
  offline(
    {
      id: 'wire-shape/approval-actions-schema',
      title: 'the action of an approval is edit-accept, never edit',
      proves: ['WIRE-32'],
    },
    ({ expect }) => {
      const schema = payloadOf('approval.received');
      for (const action of ['accept', 'reject', 'refine', 'edit-accept'])
        expect.that(fits(schema, { nodeId: 'gate', action }), `an approval can be answered with ${action}`);
      expect.that(
        !fits(schema, { nodeId: 'gate', action: 'edit' }),
        'an approval cannot be answered with edit',
      );
    },
  ),
  offline(
    {
      id: 'wire-shape/closure-schema',
      title: 'what clients send is closed, what hosts send is open',
      proves: ['WIRE-20', 'WIRE-21'],
    },
    ({ expect }) => {
      for (const [what, [schema, body]] of Object.entries(SUBMITTED)) {
        expect.equal(problems(schema, body), [], `${what} as documented is valid`);
        expect.that(!fits(schema, { ...body, ...EXTRA }), `${what} with an unknown member is not valid`);
      }
      for (const [what, [schema, body]] of Object.entries(EMITTED))
        expect.equal(problems(schema, { ...body, ...EXTRA }), [], `${what} with an added member is valid`);
      const error = { error: 'not_found', message: 'No.' };
      expect.that(fits(ErrorEnvelopeSchema, error), 'an error with two members is valid');
      expect.that(!fits(ErrorEnvelopeSchema, { ...error, ...EXTRA }), 'an error with another one is not');
    },
  ),
  offline(
    {
      id: 'wire-shape/capabilities-schema',
      title: 'discovery has a place for gRPC and for the largest body',
      proves: ['WIRE-22', 'WIRE-24', 'WIRE-19'],
    },
    ({ expect }) => {
      const withGrpc = (grpc: JsonObject): boolean => fits(CapabilitiesSchema, { ...DISCOVERY, grpc });
      expect.that(fits(CapabilitiesSchema, DISCOVERY), 'discovery without grpc is valid');
      for (const tls of ['required', 'optional', 'disabled'])
        expect.that(withGrpc({ ...GRPC, tls }), `discovery can have grpc with tls ${tls}`);
      expect.that(withGrpc({ ...GRPC, supported: false }), 'grpc can be there and not supported');
      for (const name of Object.keys(GRPC))
        expect.that(!withGrpc(omit(GRPC, name)), `grpc cannot be without ${name}`);
      expect.that(!withGrpc({ ...GRPC, service: 'acme.v1.Engine' }), 'grpc has one service of one name');
      expect.that(!withGrpc({ ...GRPC, tls: 'maybe' }), 'tls of grpc has three values');
      const limited = (maxRequestBodyBytes: number): boolean =>
        fits(LimitsSchema, { ...LIMITS, maxRequestBodyBytes });
      expect.that(limited(1_048_576), 'limits can have maxRequestBodyBytes');
      expect.that(!limited(0.5) && !limited(0), 'maxRequestBodyBytes is a whole number of 1 or more');
      expect.that(
        PROFILES['openwop-core'].isClaimed(DISCOVERY),
        'openwop-core can be claimed with no envelopes at all',
      );
    },
  ),
];

function problems(schema: Schema, value: unknown) {
  return compileValidator(schema)(value);
}

function fits(schema: Schema, value: unknown): boolean {
  return problems(schema, value).length === 0;
}

function payloadOf(type: string): Schema {
  const row = eventType(type);
  if (row === undefined) throw new Error(`the catalogue has no ${type}`);
  return row.payload;
}

function omit(from: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));
}

function shown(body: JsonObject): string {
  return JSON.stringify(body);
}

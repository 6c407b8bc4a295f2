import type { RequirementTable } from '../../requirements/requirement.ts';

const CORE = ['openwop-core', 'openwop-core-standard'] as const;
const STANDARD = ['openwop-core-standard'] as const;

export const EVENTS_REQUIREMENTS = {
  'EVT-1': {
    document: 'conformance-1.0.0',
    section: 'scenario version-negotiation',
    level: 'MUST',
    text: 'Every event has eventId, runId, type, payload, timestamp and sequence; the payload may be null, and is never left out.',
    profiles: CORE,
  },
  'EVT-2': {
    document: 'rest-endpoints',
    section: 'RunEventDoc',
    level: 'MUST',
    text: 'An eventId has 1 to 128 characters and belongs to one event alone, and runId is the run whose log it is.',
    profiles: CORE,
  },
  'EVT-3': {
    document: 'rest-endpoints',
    section: 'RunEventDoc.sequence',
    level: 'MUST',
    text: "The sequences of a run's log begin at 0 and grow by one, so that nothing is missing.",
    reading:
      'The storage document and the schema say 0, one published host begins at 1. Readers tolerate gaps, writers make none.',
    profiles: CORE,
  },
  'EVT-4': {
    document: 'conformance-1.0.0',
    section: 'scenario eventOrdering',
    level: 'MUST',
    text: 'A run that has ended has exactly one of run.completed, run.failed and run.cancelled, and it is the last event of the log.',
    profiles: CORE,
  },
  'EVT-5': {
    document: 'conformance-1.0.0',
    section: 'scenario eventOrdering',
    level: 'MUST',
    text: 'The log of a run that has ended is the same at every read.',
    profiles: STANDARD,
  },
  'EVT-6': {
    document: 'rest-endpoints',
    section: 'event log, append only',
    level: 'MUST',
    text: 'A log only grows: a later read begins with the same events.',
    profiles: STANDARD,
  },
  'EVT-7': {
    document: 'rest-endpoints',
    section: 'run.started',
    level: 'MUST',
    text: 'A log begins with run.started, which comes once and names the workflow.',
    profiles: CORE,
  },
  'EVT-8': {
    document: 'conformance-1.0.0',
    section: 'event object',
    level: 'MUST',
    text: 'Events of a node have its nodeId next to the type, and the same one in the payload where the payload has it.',
  },
  'EVT-9': {
    document: 'conformance-1.0.0',
    section: 'schema run-event-payloads, node events',
    level: 'MUST',
    text: 'The payload of node.started has nodeId and typeId, that of node.completed has nodeId and an object of outputs if any, and attempts count from 0.',
  },
  'EVT-10': {
    document: 'conformance-1.0.0',
    section: 'schema run-event-payloads, failures',
    level: 'MUST',
    text: 'The payload of node.failed has nodeId and an error with code and message, that of run.failed has such an error, both inside the member error.',
    reading:
      'Early hosts had code and message at the top of the payload; the schema requires the member error.',
    profiles: STANDARD,
  },
  'EVT-11': {
    document: 'rfc-0094',
    section: 'C. RunEventType',
    level: 'MUST',
    text: 'A type is a member of the catalogue or a vendor name of at least two parts outside the reserved prefixes.',
  },
  'EVT-12': {
    document: 'rfc-0094',
    section: 'C. RunEventType',
    level: 'MUST',
    text: 'No type of a vendor begins with run., node., approval., clarification., cap., channel. or replay.: only the protocol adds types there.',
  },
  'EVT-13': {
    document: 'conformance-1.0.0',
    section: 'scenario multi-node-ordering, fixture conformance-multi-node',
    level: 'MUST',
    text: 'Nodes that are chained by edges complete in the order of the edges, each once.',
  },
  'EVT-14': {
    document: 'rest-endpoints',
    section: 'emission order',
    level: 'MUST',
    text: 'A node begins with node.started, and no other node event of it follows its node.completed or node.failed; a chained node begins after its predecessor has completed.',
  },
  'EVT-15': {
    document: 'conformance-1.0.0',
    section: 'scenario failure-path, fixture conformance-failure',
    level: 'MUST',
    text: 'The node.failed of the node that fails a run comes before run.failed.',
    profiles: STANDARD,
  },
  'EVT-16': {
    document: 'rest-endpoints',
    section: 'terminal events',
    level: 'MUST',
    text: 'A run is not seen as ended before its terminal event can be read.',
    profiles: STANDARD,
  },
  'EVT-17': {
    document: 'rest-endpoints',
    section: 'terminal events',
    level: 'MUST',
    text: 'Nothing is appended to the log of a run that has ended, whatever is asked of it afterwards.',
  },
  'EVT-18': {
    document: 'rest-endpoints',
    section: 'RunEventDoc',
    level: 'MUST',
    text: 'The optional members of an event have their types: nodeId and causationId are texts of up to 128 characters, schemaVersion is an integer from 0, engineVersion a text.',
  },
  'EVT-19': {
    document: 'rest-endpoints',
    section: 'RunEventDoc.sequence',
    level: 'MUST',
    text: 'Sequences are counted per run: runs that run at the same time each begin at 0 and have no events of each other.',
  },
  'EVT-20': {
    document: 'rest-endpoints',
    section: 'time',
    level: 'MUST',
    text: 'The timestamp of an event is an RFC 3339 time.',
    profiles: CORE,
  },
  'EVT-21': {
    document: 'rest-endpoints',
    section: 'run.completed, run.cancelled',
    level: 'MUST',
    text: 'The payload members of terminal events have their types: outputs is an object, durationMs an integer from 0, reason a text.',
  },
  'EVT-22': {
    document: 'rest-endpoints',
    section: 'event log, concurrent appends',
    level: 'MUST',
    text: 'Events that are appended at the same time get sequences of their own.',
    notTested:
      'a client cannot append events at the same time; gap-free logs of parallel runs and of racing commands stand for it',
  },
  'EVT-23': {
    document: 'rest-endpoints',
    section: 'lease events',
    level: 'SHOULD',
    text: 'The process that executes a run leaves no events in its log.',
    reading: 'The catalogue has lease.* events, a later text keeps claims out of the log.',
    notTested: 'the catalogue allows the events, so a host that records them is not wrong',
  },
} as const satisfies RequirementTable;

import { answered, answeredHeader, dropsHeader, payloads } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { ignoresHeader, sent } from '../../mutants/requests.ts';
import { CREATE, FORK, POLL, SNAPSHOT } from '../../mutants/targets.ts';

export const TELEMETRY_MUTANTS: readonly Mutant[] = [
  {
    id: 'telemetry/trace-dropped',
    breaks: 'a run has a trace of its own, whatever its caller sends',
    caughtBy: ['telemetry/trace-of-the-caller', 'telemetry/child-runs'],
    says: /the run is in the trace of its caller/,
    on: CREATE,
    request: ignoresHeader('traceparent'),
  },
  {
    id: 'telemetry/parent-of-another-span',
    breaks: 'the run is in the trace of its caller, but below another span',
    caughtBy: ['telemetry/trace-of-the-caller'],
    says: /the span of the run is below the span of its caller/,
    on: CREATE,
    request: (request) => ({
      ...request,
      headers: {
        ...request.headers,
        traceparent: String(request.headers['traceparent']).replace(/-[0-9a-f]{16}-/, '-00f067aa0ba902b7-'),
      },
    }),
  },
  {
    id: 'telemetry/another-workflow',
    breaks: 'the span of a run names another workflow than the run',
    caughtBy: ['telemetry/spans'],
    says: /openwop\.workflow_id of the span openwop\.run is right/,
    on: SNAPSHOT,
    answer: answered((snapshot) => ({ ...snapshot, workflowId: 'another' })),
  },
  {
    id: 'telemetry/another-node-type',
    breaks: 'the span of a node is named for another type',
    caughtBy: ['telemetry/spans'],
    says: /the span of a node is named for its type/,
    on: POLL,
    answer: payloads('node.started', (payload) => ({ ...payload, typeId: 'core.another' })),
  },
  {
    id: 'telemetry/attempts-from-one',
    breaks: 'the attempts of a span begin with another number than those of the log',
    caughtBy: ['telemetry/spans'],
    says: /openwop\.node_attempt/,
    on: POLL,
    answer: payloads('node.started', (payload) => ({
      ...payload,
      attempt: Number(payload['attempt']) + 1,
    })),
  },
  {
    id: 'telemetry/malformed-refused',
    breaks: 'a malformed traceparent is an error',
    caughtBy: ['telemetry/malformed-trace'],
    says: /status 201/,
    on: CREATE,
    answer: (answer, { headers }) =>
      headers['traceparent'] === 'garbage'
        ? { ...answer, status: 400, body: '{"error":"validation_error","message":"traceparent"}' }
        : answer,
  },
  {
    id: 'telemetry/another-parent-node',
    breaks: 'the span of a child names another node of its parent',
    caughtBy: ['telemetry/child-runs'],
    says: /openwop\.parent\.node_id/,
    on: POLL,
    answer: payloads('node.completed', (payload) => ({ ...payload, nodeId: 'another' })),
  },
  {
    id: 'telemetry/another-interrupt-kind',
    breaks: 'the span of an interrupt has another kind than the interrupt',
    caughtBy: ['telemetry/interrupts'],
    says: /openwop\.interrupt_kind/,
    on: POLL,
    answer: payloads('interrupt.requested', (payload) => ({ ...payload, kind: 'custom' })),
  },
  {
    id: 'telemetry/another-mode',
    breaks: 'the span of a replay says that it is a branch',
    caughtBy: ['telemetry/forks'],
    says: /openwop\.replay\.mode/,
    on: FORK,
    request: sent((body) => ({ ...body, mode: 'branch' })),
  },
  {
    id: 'telemetry/no-answer-header',
    breaks: 'answers have no traceparent',
    caughtBy: ['telemetry/answer-header'],
    says: /the answer has the header traceparent/,
    on: { path: /^\/v1\/runs\// },
    answer: dropsHeader('traceparent'),
  },
  {
    id: 'telemetry/another-trace-answered',
    breaks: 'answers have a trace of their own',
    caughtBy: ['telemetry/answer-header'],
    says: /has the trace of its request/,
    on: { path: /^\/v1\/runs\// },
    answer: answeredHeader('traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  },
];

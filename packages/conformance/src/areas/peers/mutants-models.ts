import { isJsonObject, type JsonObject } from '@weft/protocol';
import { eachEvent, payloads, replyWith, run, status } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { CREATE, POLL, SNAPSHOT } from '../../mutants/targets.ts';

const changesError = (change: (error: JsonObject) => JsonObject) =>
  run((snapshot) =>
    isJsonObject(snapshot['error']) ? { ...snapshot, error: change(snapshot['error']) } : snapshot,
  );
const changesDetails = (change: (details: JsonObject) => JsonObject) =>
  changesError((error) => {
    const { details } = error;
    return { ...error, details: change(isJsonObject(details ?? null) ? (details as JsonObject) : {}) };
  });
const completes = run((snapshot) => ({ ...snapshot, status: 'completed' }));

export const MODEL_MUTANTS: readonly Mutant[] = [
  {
    id: 'peers/any-provider',
    breaks: 'a run with an unknown provider is created',
    caughtBy: ['peers/unknown-provider'],
    says: /status/,
    on: CREATE,
    answer: (answer) =>
      answer.status >= 400 ? replyWith(201, { runId: 'run-1', status: 'pending' }) : answer,
  },
  {
    id: 'peers/provider-as-server-error',
    breaks: 'an unknown provider is an error of the host',
    caughtBy: ['peers/unknown-provider'],
    says: /status/,
    on: CREATE,
    answer: (answer, request, memory) => status(400, 500)(answer, request, memory),
  },
  {
    id: 'peers/credential-general-code',
    breaks: 'a missing credential fails with a general code',
    caughtBy: ['peers/unknown-credential', 'peers/policy-denials'],
    says: /the code is one of/,
    on: SNAPSHOT,
    answer: changesError((error) => ({ ...error, code: 'node_failed' })),
  },
  {
    id: 'peers/policy-ignored',
    breaks: 'calls are made whatever the policy says',
    caughtBy: ['peers/policy-denials', 'peers/unknown-credential'],
    says: /fails its run/,
    on: SNAPSHOT,
    answer: completes,
  },
  {
    id: 'peers/policy-without-reason',
    breaks: 'a policy denies without a reason',
    caughtBy: ['peers/policy-denials'],
    says: /the reason under disabled/,
    on: SNAPSHOT,
    answer: changesDetails(({ reason: _reason, ...details }) => details),
  },
  {
    id: 'peers/policy-told',
    breaks: 'a denial tells which models are allowed',
    caughtBy: ['peers/policy-denials'],
    says: /does not tell the policy/,
    on: SNAPSHOT,
    answer: changesDetails((details) => ({ ...details, allowedModels: ['large'] })),
  },
  {
    id: 'peers/policy-closed',
    breaks: 'the policy optional denies',
    caughtBy: ['peers/policy-allows'],
    says: /under optional is made/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['status'] === 'completed' ? { ...snapshot, status: 'failed' } : snapshot,
    ),
  },
  {
    id: 'peers/tool-not-named',
    breaks: 'the log does not say which tool was called',
    caughtBy: ['peers/mcp-roundtrip'],
    says: /the log names the tool echo/,
    on: POLL,
    answer: payloads('agent.toolCalled', (payload) => ({ ...payload, toolName: 'tool' })),
  },
  {
    id: 'peers/tool-calls-mixed-up',
    breaks: 'what returns has another id than the call',
    caughtBy: ['peers/mcp-roundtrip'],
    says: /has the callId of the call/,
    on: POLL,
    answer: payloads('agent.toolReturned', (payload) => ({ ...payload, callId: 'other' })),
  },
  {
    id: 'peers/tool-answers-interrupt',
    breaks: 'the result of a tool answers an interrupt',
    caughtBy: ['peers/mcp-roundtrip'],
    says: /answers no interrupt/,
    on: POLL,
    answer: eachEvent((event) =>
      event['type'] === 'agent.toolReturned' ? [event, { ...event, type: 'interrupt.resolved' }] : event,
    ),
  },
];

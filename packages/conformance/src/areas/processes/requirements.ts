import type { RequirementTable } from '../../requirements/requirement.ts';

export const PROCESSES_REQUIREMENTS = {
  'PROC-1': {
    document: 'conformance-1.0.0',
    section: 'scenario staleClaim',
    level: 'MUST',
    text: 'A run whose process is killed while a node waits for time to pass is continued by the next process, and ends.',
  },
  'PROC-2': {
    document: 'conformance-1.0.0',
    section: 'scenario staleClaim',
    level: 'MUST',
    text: 'A takeover does not disturb the log: it continues where it was, without a gap, and has one run.started and one terminal event.',
  },
  'PROC-3': {
    document: 'capabilities',
    section: 'production profile, durable store',
    level: 'MUST',
    text: 'Nothing that was acknowledged is lost with a process: runs that were created are there, and those that have ended have the log they had.',
  },
  'PROC-4': {
    document: 'idempotency',
    section: 'Layer 1, retention',
    level: 'MUST',
    text: 'Keys outlive the process that accepted them: a repeated request has the answer of the first.',
  },
  'PROC-5': {
    document: 'interrupt',
    section: 'durability of suspensions',
    level: 'MUST',
    text: 'A run that waits for an answer waits for it after its process was killed, and accepts it.',
  },
  'PROC-6': {
    document: 'rest-endpoints',
    section: 'POST /v1/runs/{runId}/cancel',
    level: 'MUST',
    text: 'A cancel that was acknowledged is carried out, even if the process dies right after it.',
  },
  'PROC-7': {
    document: 'rest-endpoints',
    section: 'POST /v1/runs/{runId}:pause',
    level: 'MUST',
    text: 'A paused run is paused after its process was killed, and can be resumed.',
    gate: 'pauseResume',
  },
  'PROC-8': {
    document: 'multi-agent',
    section: 'core.subWorkflow, crash',
    level: 'MUST',
    text: 'A parent keeps its child across the death of a process: it does not start another one.',
  },
  'PROC-9': {
    document: 'rest-endpoints',
    section: 'claims',
    level: 'MUST',
    text: 'Processes that share a store show the same runs, and one continues what another one leaves when it is killed.',
    reading:
      'A host with an embedded store may refuse a second process; the first one must not be disturbed by it.',
  },
  'PROC-10': {
    document: 'idempotency',
    section: 'Layer 1, concurrent duplicates',
    level: 'MUST',
    text: 'Parallel requests with one key make one run, also when they reach different processes.',
    reading:
      'A host with an embedded store may refuse a second process; the duplicates then reach the first one alone.',
  },
  'PROC-11': {
    document: 'rest-endpoints',
    section: 'claims',
    level: 'MUST',
    text: 'A run is claimed by one conditional update, renewed by its holder alone, and taken over only after the claim has run out.',
    notTested: 'claims are not visible from outside; what they guarantee is proven by the other rows',
  },
  'PROC-12': {
    document: 'rest-endpoints',
    section: 'claims',
    level: 'SHOULD',
    text: 'A process that is asked to end gives its claims back at once.',
    notTested: 'the suite kills processes and does not ask them',
  },
} as const satisfies RequirementTable;

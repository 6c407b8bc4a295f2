import { isJsonObject } from '@weft/protocol';
import { answered, events, numbered, omit, payloads, refusal, run, swapped } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { isAnotherRun, sent } from '../../mutants/requests.ts';
import { CREATE, DISCOVERY, POLL, SNAPSHOT } from '../../mutants/targets.ts';

export const LIMITS_MUTANTS: readonly Mutant[] = [
  {
    id: 'limits/general-code',
    breaks: 'a breach has a general error code',
    caughtBy: ['limits/node-executions', 'limits/loop-iterations', 'limits/capability-missing'],
    says: /error of the run is recursion_limit_exceeded/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      isJsonObject(snapshot['error'])
        ? { ...snapshot, error: { ...snapshot['error'], code: 'run_failed' } }
        : snapshot,
    ),
  },
  {
    id: 'limits/breach-not-recorded',
    breaks: 'a breach is not recorded',
    caughtBy: ['limits/node-executions', 'limits/loop-iterations'],
    says: /exactly one cap\.breached/,
    on: POLL,
    answer: events((all) => numbered(all.filter(({ type }) => type !== 'cap.breached'))),
  },
  {
    id: 'limits/breach-for-each-node',
    breaks: 'every node that is not started is a breach of its own',
    caughtBy: ['limits/node-executions'],
    says: /exactly one cap\.breached/,
    on: POLL,
    answer: events((all) =>
      numbered(all.flatMap((event) => (event['type'] === 'cap.breached' ? [event, event] : [event]))),
    ),
  },
  {
    id: 'limits/observed-at-limit',
    breaks: 'a breach observes the limit itself',
    caughtBy: ['limits/node-executions', 'limits/loop-iterations'],
    says: /observed is above the limit/,
    on: POLL,
    answer: payloads('cap.breached', (payload) => ({ ...payload, observed: payload['limit'] ?? 0 })),
  },
  {
    id: 'limits/breach-after-failure',
    breaks: 'the breach is recorded after the failure',
    caughtBy: ['limits/node-executions'],
    says: /comes before run\.failed/,
    on: POLL,
    answer: events((all) => numbered(swapped(all, all.length - 1, all.length - 2))),
  },
  {
    id: 'limits/one-node-more',
    breaks: 'the node above the limit is started',
    caughtBy: ['limits/node-executions', 'limits/breach-node'],
    says: /no more nodes are started than the limit says/,
    on: POLL,
    answer: events((all) =>
      numbered(
        all.flatMap((event) =>
          event['type'] === 'cap.breached' ? [{ ...event, type: 'node.started' }, event] : [event],
        ),
      ),
    ),
  },
  {
    id: 'limits/breach-without-node',
    breaks: 'the breach does not name the node',
    caughtBy: ['limits/breach-node'],
    says: /cap\.breached has a nodeId/,
    on: POLL,
    answer: payloads('cap.breached', (payload) => omit(payload, 'nodeId')),
  },
  {
    id: 'limits/off-by-one',
    breaks: 'a run may start one node less than its limit says',
    caughtBy: ['limits/exact-limit', 'limits/node-executions'],
    says: /within its limit completes/,
    on: CREATE,
    request: sent((body) => {
      const { configurable } = body;
      return isJsonObject(configurable) && typeof configurable['recursionLimit'] === 'number'
        ? { ...body, configurable: { recursionLimit: configurable['recursionLimit'] - 1 } }
        : body;
    }),
  },
  {
    id: 'limits/limit-always',
    breaks: 'a run without a limit of its own breaks one',
    caughtBy: ['limits/exact-limit'],
    says: /within its limit completes/,
    on: CREATE,
    request: sent((body) =>
      body['configurable'] === undefined ? { ...body, configurable: { recursionLimit: 2 } } : body,
    ),
  },
  {
    id: 'limits/limit-of-nothing',
    breaks: 'a limit below 1 is raised to 1',
    caughtBy: ['limits/bad-recursion-limit'],
    says: /status 400/,
    on: CREATE,
    request: sent((body) => ({ ...body, configurable: { recursionLimit: 1 } })),
  },
  {
    id: 'limits/timeout-of-nothing',
    breaks: 'a time limit that is not valid is ignored',
    caughtBy: ['limits/bad-run-timeout'],
    says: /status 400/,
    on: CREATE,
    request: sent((body) => omit(body, 'configurable')),
  },
  {
    id: 'limits/ceiling-crash',
    breaks: 'a limit above the ceiling is an internal error',
    caughtBy: ['limits/ceiling'],
    says: /status 201 or 400/,
    on: CREATE,
    request: () => ({ instead: refusal(500, 'internal_error') }),
  },
  {
    id: 'limits/timeout-completes',
    breaks: 'a run that was ended by its limit has completed its node',
    caughtBy: ['limits/run-duration'],
    says: /does not complete/,
    on: POLL,
    answer: events((all) =>
      all.map((event) => (event['type'] === 'node.cancelled' ? { ...event, type: 'node.completed' } : event)),
    ),
  },
  {
    id: 'limits/decisions-above-limit',
    breaks: 'a decision above the limit is recorded',
    caughtBy: ['limits/loop-iterations'],
    says: /no more decisions are recorded/,
    on: POLL,
    answer: events((all) =>
      numbered(
        all.flatMap((event) => (event['type'] === 'runOrchestrator.decided' ? [event, event] : [event])),
      ),
    ),
  },
  {
    id: 'limits/refused-on-creation',
    breaks: 'a run that will miss a capability is not created',
    caughtBy: ['limits/capability-missing'],
    says: /status 201/,
    on: CREATE,
    answer: () => refusal(422, 'capability_required'),
  },
  {
    id: 'limits/capability-unnamed',
    breaks: 'the message does not name the capability',
    caughtBy: ['limits/capability-missing'],
    says: /names the capability that is missing/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      isJsonObject(snapshot['error'])
        ? { ...snapshot, error: { ...snapshot['error'], message: 'A capability is missing.' } }
        : snapshot,
    ),
  },
  {
    id: 'limits/capability-listed',
    breaks: 'discovery lists every capability that it knows',
    caughtBy: ['limits/capability-missing'],
    says: /does not list what is not provided/,
    on: DISCOVERY,
    answer: answered((body) => ({ ...body, runtimeCapabilities: ['conformance.never-provided'] })),
  },
  {
    id: 'limits/refused-node-started',
    breaks: 'a node is started before its capabilities are looked at',
    caughtBy: ['limits/capability-order'],
    says: /without node\.started/,
    on: POLL,
    answer: events((all) =>
      numbered(
        all.flatMap((event) =>
          event['type'] === 'node.failed' ? [{ ...event, type: 'node.started' }, event] : [event],
        ),
      ),
    ),
  },
  {
    id: 'limits/breach-counted-again',
    breaks: 'a replay counts the breach again',
    caughtBy: ['limits/replayed-breach'],
    says: /observed of a breach is the same in a replay/,
    on: POLL,
    answer: events((all, request, memory) =>
      isAnotherRun(request, memory)
        ? all.map((event) =>
            event['type'] === 'cap.breached' && isJsonObject(event['payload'])
              ? { ...event, payload: { ...event['payload'], observed: 99 } }
              : event,
          )
        : all,
    ),
  },
];

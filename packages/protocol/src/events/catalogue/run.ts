import { Type } from 'typebox';
import {
  OwnerSchema,
  closed,
  count,
  jsonObject,
  nonEmpty,
  open,
  positive,
} from '../../documents/schema-parts.ts';
import { EventError } from './payload-parts.ts';
import { DEBUG, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

export const RUN_EVENTS = family('run', [
  event(
    'run.started',
    UPDATES,
    open({
      workflowId: nonEmpty,
      inputs: optional(jsonObject),
      transport: optional(Type.Enum(['rest', 'mcp', 'a2a', 'ui'])),
      engineVersion: optional(Type.String()),
      owner: optional(OwnerSchema),
      tags: optional(Type.Array(Type.String())),
      metadata: optional(jsonObject),
    }),
    'The run leaves pending and begins; the first event of its log.',
  ),
  event(
    'run.completed',
    UPDATES,
    open({ outputs: optional(jsonObject), durationMs: optional(count) }),
    'Every end of the graph is done; the last event of the log.',
  ),
  event(
    'run.failed',
    UPDATES,
    open({ error: EventError, failedNodeId: optional(Type.String()), durationMs: optional(count) }),
    'The run ended with an error; the last event of the log.',
  ),
  event(
    'run.cancelled',
    UPDATES,
    open({
      reason: optional(Type.String()),
      cancelledBy: optional(Type.String()),
      durationMs: optional(count),
      parentRunId: optional(Type.String()),
    }),
    'The run was cancelled, directly or with its parent; the last event of the log.',
  ),
  event(
    'run.resuming',
    DEBUG,
    open({ fromStatus: optional(Type.String()) }),
    'A resume was accepted and work is about to continue.',
  ),
  event(
    'run.paused',
    UPDATES,
    open({
      reason: optional(Type.String()),
      drainPolicy: optional(Type.Enum(['immediate', 'drain-current-node'])),
    }),
    'A pause took effect; the drain policy that was asked for stands in the payload.',
  ),
  event('run.resumed', UPDATES, open({}), 'The run left its pause.'),
  event(
    'run.restored-from-snapshot',
    DEBUG,
    open({ snapshotSeq: optional(count), engineVersion: optional(Type.String()) }),
    'The state was rebuilt from a checkpoint after a restart.',
  ),
  event(
    'run.dead_lettered',
    DEBUG,
    closed({ runId: nonEmpty, reason: nonEmpty, attempts: positive, nodeId: optional(Type.String()) }),
    'Retries are spent and the run was put aside for a person.',
  ),
]);

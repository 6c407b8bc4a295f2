import { Type } from 'typebox';
import {
  anyJson,
  closed,
  count,
  jsonObject,
  nonEmpty,
  open,
  positive,
} from '../../documents/schema-parts.ts';
import { EventError, InterruptKind } from './payload-parts.ts';
import { DEBUG, SNAPSHOTS, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

export const NODE_EVENTS = family('node', [
  event(
    'node.started',
    SNAPSHOTS,
    open({ nodeId: nonEmpty, typeId: nonEmpty, attempt: optional(count) }),
    'An attempt of a node begins; attempts count from zero.',
  ),
  event(
    'node.completed',
    UPDATES,
    open({ nodeId: nonEmpty, outputs: optional(jsonObject), durationMs: optional(count) }),
    'A node succeeded; its outputs stand in the payload, sensitive ones masked.',
  ),
  event(
    'node.failed',
    UPDATES,
    open({ nodeId: nonEmpty, error: EventError, attempts: optional(positive) }),
    'A node failed for good, after its last retry.',
  ),
  event(
    'node.suspended',
    UPDATES,
    open({
      nodeId: nonEmpty,
      interruptId: nonEmpty,
      kind: optional(InterruptKind),
      key: optional(Type.String()),
      reason: optional(Type.String()),
    }),
    'A node waits for an interrupt to be answered.',
  ),
  event(
    'node.suspend-failed',
    DEBUG,
    open({ nodeId: nonEmpty, error: EventError }),
    'A node should have been suspended, but the suspension could not be stored.',
  ),
  event(
    'node.resumed',
    DEBUG,
    open({ nodeId: nonEmpty, interruptId: optional(Type.String()), resumeValue: optional(anyJson) }),
    'A suspended node received its answer.',
  ),
  event(
    'node.retried',
    DEBUG,
    open({ nodeId: nonEmpty, attempt: positive, delayMs: optional(count), lastError: optional(EventError) }),
    'An attempt failed and another follows after a delay.',
  ),
  event(
    'node.skipped',
    UPDATES,
    open({ nodeId: nonEmpty, reason: optional(Type.String()) }),
    'A node will not run: its edges were not taken, its rule cannot be met, or it is disabled.',
  ),
  event(
    'node.cancelled',
    UPDATES,
    open({ nodeId: nonEmpty, reason: optional(Type.String()) }),
    'A node was stopped while it ran, by a cancel or by a failure elsewhere.',
  ),
  event(
    'node.dispatched',
    UPDATES,
    closed({ childRunId: nonEmpty, childWorkflowId: nonEmpty, childStatus: optional(Type.String()) }),
    'A node created a child run.',
  ),
]);

import { Type } from 'typebox';
import { anyJson, count, jsonObject, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { EventError } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

/** Event types of this host, under its own prefix. */
export const WEFT_EVENTS = family('weft', [
  event(
    'weft.approval.asked',
    DEBUG,
    open({ nodeId: nonEmpty, interruptId: nonEmpty, value: anyJson, askedBy: Type.String() }),
    'An approver asked a question back; the approval stays open.',
  ),
  event(
    'weft.channel.sent',
    DEBUG,
    open({ nodeId: nonEmpty, channel: nonEmpty }),
    'A node wrote to a channel of the parent run.',
  ),
  event(
    'weft.step.started',
    DEBUG,
    open({
      nodeId: nonEmpty,
      step: nonEmpty,
      round: count,
      attempt: count,
      request: Type.Optional(jsonObject),
      onUnknownOutcome: Type.Optional(Type.Enum(['repeat', 'fail'])),
      childRunId: Type.Optional(nonEmpty),
    }),
    'One step of a node begins, such as a turn of an agent; steps that run side by side have the same round.',
  ),
  event(
    'weft.step.completed',
    DEBUG,
    open({ nodeId: nonEmpty, step: nonEmpty, result: jsonObject, childRunId: Type.Optional(nonEmpty) }),
    'A step of a node ended well.',
  ),
  event(
    'weft.step.failed',
    DEBUG,
    open({
      nodeId: nonEmpty,
      step: nonEmpty,
      error: EventError,
      attempts: positive,
      childRunId: Type.Optional(nonEmpty),
    }),
    'A step of a node failed for good; the node decides what that means.',
  ),
  event(
    'weft.step.retried',
    DEBUG,
    open({
      nodeId: nonEmpty,
      step: nonEmpty,
      attempt: positive,
      delayMs: count,
      lastError: Type.Optional(EventError),
      reason: Type.Optional(Type.String()),
    }),
    'An attempt of a step failed or was cut short, and another follows after a delay.',
  ),
  event(
    'weft.trigger.fired',
    DEBUG,
    open({
      nodeId: nonEmpty,
      trigger: Type.Literal('channel-write'),
      visit: count,
      reenters: Type.Optional(Type.Array(Type.String())),
    }),
    'A trigger starts its node; the nodes that run again with it are listed.',
  ),
]);

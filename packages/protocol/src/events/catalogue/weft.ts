import { Type } from 'typebox';
import { anyJson, count, nonEmpty, open } from '../../documents/schema-parts.ts';
import { DEBUG, event, family } from './row.ts';

/** What this host records beside the protocol's types, under its own prefix. */
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

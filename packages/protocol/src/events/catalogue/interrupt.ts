import { Type } from 'typebox';
import {
  anyJson,
  closed,
  count,
  dateTime,
  jsonObject,
  nonEmpty,
  open,
  positive,
} from '../../documents/schema-parts.ts';
import { InterruptKind } from './payload-parts.ts';
import { DEBUG, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

export const INTERRUPT_EVENTS = family('interrupt', [
  event(
    'interrupt.requested',
    UPDATES,
    closed({
      kind: InterruptKind,
      key: Type.String({ minLength: 1, maxLength: 256 }),
      data: anyJson,
      resumeSchema: optional(jsonObject),
      timeoutMs: optional(count),
      runId: optional(Type.String()),
      nodeId: optional(Type.String()),
      interruptId: optional(Type.String()),
      requestedAt: optional(dateTime),
    }),
    'A node asks a person or an external system for an answer.',
  ),
  event(
    'interrupt.resolved',
    UPDATES,
    open({
      nodeId: nonEmpty,
      interruptId: nonEmpty,
      kind: optional(InterruptKind),
      resumeValue: optional(anyJson),
      resolvedAt: optional(dateTime),
      resolvedBy: optional(Type.String()),
    }),
    'An interrupt got its answer.',
  ),
  event(
    'approval.requested',
    UPDATES,
    open({
      nodeId: nonEmpty,
      artifactId: nonEmpty,
      artifactType: nonEmpty,
      actions: Type.Array(Type.Enum(['accept', 'reject', 'refine', 'edit', 'ask'])),
      interruptId: optional(Type.String()),
      title: optional(Type.String()),
      approversList: optional(Type.Array(Type.String())),
      requiredApprovals: optional(positive),
    }),
    'The approval form of an interrupt request, for older readers.',
  ),
  event(
    'approval.received',
    UPDATES,
    open({
      nodeId: nonEmpty,
      action: Type.Enum(['accept', 'reject', 'refine', 'edit-accept', 'timeout']),
      decidedBy: optional(Type.String()),
      decidedAt: optional(Type.String()),
      comment: optional(Type.String()),
      feedback: optional(Type.String()),
      refineFeedback: optional(
        open({
          scope: Type.Enum(['whole', 'section', 'items']),
          sectionPath: optional(Type.String()),
          itemIds: optional(Type.Array(Type.String())),
          tags: optional(Type.Array(Type.String())),
          text: optional(Type.String()),
        }),
      ),
      editedArtifactData: optional(anyJson),
    }),
    'A decision on an approval was recorded.',
  ),
  event(
    'approval.granted',
    DEBUG,
    closed({
      gateId: nonEmpty,
      principal: nonEmpty,
      quorumProgress: optional(closed({ granted: optional(count), required: optional(positive) })),
    }),
    'An approver granted at a governance gate.',
  ),
  event(
    'approval.rejected',
    DEBUG,
    closed({ gateId: nonEmpty, principal: nonEmpty, reason: optional(Type.String()) }),
    'An approver rejected at a governance gate.',
  ),
  event(
    'approval.overridden',
    DEBUG,
    closed({ gateId: nonEmpty, principal: nonEmpty, reason: nonEmpty }),
    'An authorized person overrode a governance gate.',
  ),
  event(
    'clarification.requested',
    UPDATES,
    open({
      nodeId: nonEmpty,
      questions: Type.Array(open({ id: nonEmpty, question: nonEmpty, schema: optional(jsonObject) })),
      interruptId: optional(Type.String()),
    }),
    'The clarification form of an interrupt request, for older readers.',
  ),
  event(
    'clarification.resolved',
    UPDATES,
    open({ nodeId: nonEmpty, answers: jsonObject, answeredBy: optional(Type.String()) }),
    'Answers to a clarification were recorded, by question id.',
  ),
]);

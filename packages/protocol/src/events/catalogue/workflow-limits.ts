import { Type } from 'typebox';
import { closed, count, dateTime, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { amount } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

const optional = Type.Optional;

const LeaseHost = Type.Enum(['browser', 'cloud']);

export const WORKFLOW_EVENTS = family('workflow', [
  event(
    'workflow.restored',
    DEBUG,
    open({ fromSnapshotSeq: optional(count), engineVersion: optional(Type.String()) }),
    'An active run was taken over after a restart.',
  ),
  event(
    'workflow.loopback-limit',
    DEBUG,
    open({ nodeId: nonEmpty, iterations: positive, limit: optional(positive) }),
    'A loop of requested changes reached its limit.',
  ),
  event(
    'workflow.stalled',
    DEBUG,
    open({ stalledForMs: optional(count), lastNodeId: optional(Type.String()) }),
    'A run made no progress for a while.',
  ),
  event(
    'cap.breached',
    DEBUG,
    open({
      kind: Type.Enum([
        'clarification',
        'schema',
        'envelopes',
        'node-executions',
        'wasm-memory',
        'wasm-fuel',
        'wasm-execution-time',
        'run-duration',
        'loop-iterations',
        'budget-tokens',
        'budget-cost',
        'budget-tool-calls',
        'budget-retries',
      ]),
      limit: amount,
      observed: amount,
      nodeId: optional(Type.String()),
    }),
    'A limit was exceeded; the failure follows.',
  ),
  event(
    'lease.acquired',
    DEBUG,
    open({
      leaseId: nonEmpty,
      host: LeaseHost,
      instanceId: optional(Type.String()),
      expiresAt: optional(dateTime),
      previousHost: optional(LeaseHost),
    }),
    'A lease on a run was taken. Weft keeps claims out of the log.',
  ),
  event(
    'lease.renewed',
    DEBUG,
    open({
      leaseId: nonEmpty,
      host: LeaseHost,
      instanceId: optional(Type.String()),
      expiresAt: optional(dateTime),
      previousHost: optional(LeaseHost),
    }),
    'A lease on a run was renewed. Weft keeps claims out of the log.',
  ),
  event(
    'lease.lost',
    DEBUG,
    open({
      leaseId: nonEmpty,
      host: LeaseHost,
      instanceId: optional(Type.String()),
      expiresAt: optional(dateTime),
      previousHost: optional(LeaseHost),
    }),
    'A lease on a run was lost. Weft keeps claims out of the log.',
  ),
  event(
    'lease.handed-off',
    DEBUG,
    open({ leaseId: nonEmpty, fromHost: LeaseHost, toHost: LeaseHost, reason: optional(Type.String()) }),
    'A lease moved between hosts. Weft keeps claims out of the log.',
  ),
  event(
    'replay.diverged',
    DEBUG,
    open({
      sourceRunId: nonEmpty,
      atSequence: count,
      originalEventId: optional(Type.String()),
      divergenceKind: optional(Type.Enum(['output', 'missing', 'extra', 'type-mismatch'])),
      divergencePoint: optional(Type.String()),
      replayEventId: optional(Type.String()),
    }),
    'A replay differs from its source at this sequence; it continues.',
  ),
  event(
    'replay.divergedAtRefusal',
    DEBUG,
    closed({
      sourceRunId: nonEmpty,
      atSequence: count,
      originalEnvelopeKind: Type.Enum(['valid', 'refusal']),
      replayEnvelopeKind: Type.Enum(['valid', 'refusal']),
      originalEventId: optional(Type.String()),
      nodeId: optional(Type.String()),
      refusalReason: optional(Type.String()),
    }),
    'A replay got a refusal where the source had an answer, or the reverse; it fails.',
  ),
]);

import { Type } from 'typebox';
import { closed, count, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { DEBUG, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

export const MEMORY_AND_TOOL_EVENTS = family('memory-tools', [
  event(
    'memory.written',
    DEBUG,
    open({
      memoryRef: nonEmpty,
      memoryId: nonEmpty,
      nodeId: optional(Type.String()),
      agentId: optional(Type.String()),
      tags: optional(Type.Array(Type.String())),
    }),
    'A memory entry was written; the event holds ids, not content.',
  ),
  event(
    'memory.compacted',
    DEBUG,
    open({
      memoryRef: nonEmpty,
      outputId: nonEmpty,
      sourceCount: positive,
      trigger: Type.Enum(['host-managed', 'client-requested', 'both']),
      byteSize: count,
      sourceIds: optional(Type.Array(Type.String())),
      distillation: optional(
        open({ tokenBudget: positive, tokensUsed: count, indexUpdated: optional(Type.Boolean()) }),
      ),
    }),
    'Memory entries were compacted into one.',
  ),
  event(
    'agent.memory.consolidated',
    DEBUG,
    open({
      memoryRef: nonEmpty,
      inputCount: count,
      outputCount: count,
      mergedIds: optional(Type.Array(Type.String())),
      trigger: optional(Type.Enum(['host-managed', 'scheduled', 'on-demand'])),
    }),
    'A pass over long-term memory ended.',
  ),
  event(
    'commitment.fired',
    DEBUG,
    open({
      commitmentId: nonEmpty,
      memoryRef: nonEmpty,
      condition: Type.Enum(['time', 'predicate']),
      memoryId: optional(Type.String()),
      enqueuedRunId: optional(Type.String()),
    }),
    'A standing commitment came due.',
  ),
  event(
    'workspace.updated',
    UPDATES,
    closed({ path: nonEmpty, version: positive }),
    'A workspace file was written or deleted.',
  ),
  event(
    'tool.session.opened',
    DEBUG,
    open({ sessionId: nonEmpty, toolId: nonEmpty }),
    'A session of several tool steps was opened.',
  ),
  event(
    'tool.session.closed',
    DEBUG,
    open({ sessionId: nonEmpty, toolId: nonEmpty, outcome: Type.Enum(['completed', 'failed', 'cancelled']) }),
    'A session of several tool steps was closed.',
  ),
  event(
    'egress.decided',
    DEBUG,
    open({
      decision: Type.Enum(['allowed', 'denied', 'downgraded', 'approval-required']),
      destination: nonEmpty,
      credentialId: optional(Type.String()),
      reason: optional(
        Type.Enum([
          'ok',
          'out-of-audience',
          'expired',
          'ssrf-blocked',
          'provenance-unevaluable',
          'scope-denied',
          'policy-denied',
        ]),
      ),
      auditCorrelationId: optional(Type.String()),
    }),
    'An outgoing call with a credential was allowed or not.',
  ),
  event(
    'connector.authorized',
    DEBUG,
    closed({ provider: nonEmpty, credentialRef: nonEmpty, scopes: optional(Type.Array(Type.String())) }),
    'A connector obtained its token; the event holds a reference only.',
  ),
  event(
    'connector.auth_expired',
    DEBUG,
    closed({ provider: nonEmpty, credentialRef: nonEmpty, reason: optional(Type.String()) }),
    'A connector’s token could not be refreshed.',
  ),
  event(
    'authorization.decided',
    DEBUG,
    closed({
      principal: nonEmpty,
      action: nonEmpty,
      resource: nonEmpty,
      allowed: Type.Boolean(),
      reason: optional(Type.String()),
    }),
    'A principal was allowed or refused an action.',
  ),
]);

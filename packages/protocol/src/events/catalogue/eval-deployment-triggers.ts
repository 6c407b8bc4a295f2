import { Type } from 'typebox';
import { closed, count, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { amount, share, TextOrNull } from './payload-parts.ts';
import { DEBUG, UPDATES, event, family } from './row.ts';

const optional = Type.Optional;

const DeploymentState = Type.Enum([
  'draft',
  'test',
  'staged',
  'active',
  'paused',
  'deprecated',
  'rolled-back',
]);
const SubscriptionState = Type.Enum(['active', 'paused', 'failed', 'dead-lettered']);
const ProposalKind = Type.Enum(['agent-pack', 'workflow-chain-pack', 'prompt-template', 'automation']);

export const EVAL_DEPLOYMENT_TRIGGER_EVENTS = family('eval-deployment-triggers', [
  event(
    'eval.started',
    UPDATES,
    open({
      suiteId: nonEmpty,
      suiteVersion: nonEmpty,
      taskCount: count,
      modes: Type.Array(Type.Enum(['golden', 'rubric', 'adversarial', 'regression', 'live-shadow'])),
      baselineRunId: optional(Type.String()),
    }),
    'An evaluation run begins.',
  ),
  event(
    'eval.scored',
    UPDATES,
    open({
      taskId: nonEmpty,
      score: share,
      passed: Type.Boolean(),
      costUsd: optional(amount),
      latencyMs: optional(count),
      schemaValid: optional(Type.Boolean()),
      safetyFindingCount: optional(count),
    }),
    'One task of an evaluation has its score.',
  ),
  event(
    'eval.completed',
    UPDATES,
    open({
      aggregateScore: share,
      passed: Type.Boolean(),
      taskCount: count,
      passedCount: count,
      regressionVsBaseline: optional(Type.Number({ minimum: -1, maximum: 1 })),
    }),
    'All tasks of an evaluation have their scores.',
  ),
  event(
    'deployment.promoted',
    UPDATES,
    closed({
      agentId: nonEmpty,
      toVersion: nonEmpty,
      toState: DeploymentState,
      fromVersion: optional(Type.String()),
      channel: optional(Type.String()),
      canaryPercent: optional(Type.Integer({ minimum: 0, maximum: 100 })),
      evalRunId: optional(Type.String()),
      approvalGateId: optional(Type.String()),
    }),
    'A version of an agent was promoted.',
  ),
  event(
    'deployment.rolled-back',
    UPDATES,
    closed({
      agentId: nonEmpty,
      fromVersion: nonEmpty,
      toVersion: nonEmpty,
      rollbackPointer: nonEmpty,
      reason: optional(Type.String()),
    }),
    'A version of an agent was rolled back.',
  ),
  event(
    'deployment.canary.adjusted',
    UPDATES,
    closed({
      agentId: nonEmpty,
      version: nonEmpty,
      fromPercent: Type.Integer({ minimum: 0, maximum: 100 }),
      toPercent: Type.Integer({ minimum: 0, maximum: 100 }),
    }),
    'The share of traffic a canary gets changed.',
  ),
  event(
    'deployment.state.changed',
    UPDATES,
    closed({ agentId: nonEmpty, version: nonEmpty, fromState: DeploymentState, toState: DeploymentState }),
    'A deployment was paused, resumed or deprecated.',
  ),
  event(
    'roster.run.initiated',
    DEBUG,
    closed({
      rosterId: nonEmpty,
      persona: nonEmpty,
      agentId: nonEmpty,
      workflowId: nonEmpty,
      triggerSource: nonEmpty,
      triggerSubscriptionId: optional(Type.String()),
    }),
    'A roster member’s trigger started the run.',
  ),
  event(
    'trigger.subscription.state.changed',
    DEBUG,
    open({
      subscriptionId: nonEmpty,
      source: Type.Enum(['webhook', 'schedule', 'queue', 'email', 'form']),
      fromState: SubscriptionState,
      toState: SubscriptionState,
      reason: optional(
        Type.Enum([
          'retry-exhausted',
          'operator-paused',
          'signature-invalid',
          'backpressure',
          'source-removed',
          'provenance-unevaluable',
        ]),
      ),
    }),
    'A trigger subscription changed its state.',
  ),
  event(
    'trigger.delivery.attempted',
    DEBUG,
    open({
      subscriptionId: nonEmpty,
      dedupKey: nonEmpty,
      attempt: positive,
      outcome: Type.Enum(['delivered', 'retrying', 'dead-lettered']),
      runId: optional(Type.String()),
    }),
    'An inbound delivery was attempted.',
  ),
  event(
    'proposal.created',
    UPDATES,
    closed({
      proposalId: nonEmpty,
      kind: ProposalKind,
      sourceRunIds: optional(Type.Array(Type.String())),
      duplicateOf: optional(TextOrNull),
    }),
    'A draft was learned from earlier runs.',
  ),
  event(
    'proposal.activated',
    UPDATES,
    closed({
      proposalId: nonEmpty,
      kind: ProposalKind,
      installedArtifactRef: nonEmpty,
      approvalId: optional(TextOrNull),
    }),
    'A learned draft was applied.',
  ),
  event(
    'goal.evaluated',
    UPDATES,
    closed({
      goalId: nonEmpty,
      satisfied: Type.Boolean(),
      runId: nonEmpty,
      iterations: count,
      confidence: optional(share),
    }),
    'A standing goal was evaluated.',
  ),
  event(
    'goal.closed',
    UPDATES,
    closed({
      goalId: nonEmpty,
      finalState: Type.Enum(['satisfied', 'escalated', 'abandoned', 'bound-exceeded']),
    }),
    'A standing goal ended.',
  ),
  event(
    'import.applied',
    UPDATES,
    closed({
      bundleOrigin: nonEmpty,
      counts: open({
        created: optional(count),
        updated: optional(count),
        skipped: optional(count),
        failed: optional(count),
      }),
      secretsToRebind: optional(Type.Array(Type.String())),
    }),
    'An import was applied; the event holds counts and references only.',
  ),
]);

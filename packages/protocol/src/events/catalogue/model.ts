import { Type } from 'typebox';
import { closed, count, jsonObject, nonEmpty, open, positive } from '../../documents/schema-parts.ts';
import { PROMPT_REF_PATTERN } from '../../documents/workflow.ts';
import { amount, IntegerOrNull, TextOrNull } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

const optional = Type.Optional;

const RetryReason = Type.Union([
  Type.Enum([
    'schema-violation',
    'truncation',
    'type-drift',
    'type-mismatch',
    'refusal',
    'parse-error',
    'unknown',
  ]),
  Type.String({ pattern: '^x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*$' }),
]);

const BudgetDimension = Type.Enum(['tokens', 'cost', 'toolCalls', 'retries']);

export const MODEL_EVENTS = family('model', [
  event(
    'provider.usage',
    DEBUG,
    closed({
      provider: nonEmpty,
      model: nonEmpty,
      inputTokens: count,
      outputTokens: count,
      totalTokens: optional(count),
      costEstimateUsd: optional(amount),
      currency: optional(Type.String({ pattern: '^[A-Z]{3}$' })),
      cacheHit: optional(Type.Boolean()),
      cacheReadTokens: optional(count),
      cacheWriteTokens: optional(count),
      nodeId: optional(Type.String()),
      traceId: optional(Type.String()),
    }),
    'Tokens and cost of one model call.',
  ),
  event(
    'prompt.composed',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      refs: Type.Array(Type.String({ pattern: PROMPT_REF_PATTERN })),
      kind: Type.Enum(['system+user', 'system-only', 'user-only', 'agent-reasoning']),
      hash: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
      composed: optional(Type.String()),
      systemPrompt: optional(Type.String()),
      userPrompt: optional(Type.String()),
      variableBindings: optional(jsonObject),
      variableHashes: optional(jsonObject),
      contentTrust: optional(Type.Enum(['trusted', 'untrusted'])),
      causationHostId: optional(Type.String()),
    }),
    'A prompt was composed for a node, named by its hash.',
  ),
  event(
    'agent.promptResolved',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      kind: Type.Enum(['system', 'user', 'few-shot', 'schema-hint']),
      chain: Type.Array(
        open({
          layer: Type.Enum([
            'run-configurable',
            'node',
            'agent-intrinsic',
            'agent-overrides',
            'agent-library-default',
            'workflow-defaults',
            'host-defaults',
          ]),
          source: optional(Type.String()),
          applied: Type.Boolean(),
          reason: optional(Type.String()),
        }),
      ),
      resolved: TextOrNull,
      agentId: optional(Type.String()),
      causationHostId: optional(Type.String()),
    }),
    'Which layer supplied a prompt, and which were looked at.',
  ),
  event(
    'model.capability.substituted',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      originalProvider: nonEmpty,
      originalModel: nonEmpty,
      fallbackProvider: nonEmpty,
      fallbackModel: nonEmpty,
      missingCapabilities: Type.Array(Type.String()),
    }),
    'A model lacked a capability and the declared fallback was used.',
  ),
  event(
    'model.capability.insufficient',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      provider: nonEmpty,
      model: nonEmpty,
      missingCapabilities: Type.Array(Type.String()),
      fallbackAttempted: optional(Type.Boolean()),
    }),
    'A model lacks a capability and there is no fallback.',
  ),
  event(
    'envelope.retry.attempted',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      attempt: Type.Integer({ minimum: 1, maximum: 16 }),
      reason: RetryReason,
      previousError: optional(TextOrNull),
    }),
    'A malformed model answer is asked for again.',
  ),
  event(
    'envelope.retry.exhausted',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      totalAttempts: positive,
      finalReason: RetryReason,
      finalError: optional(TextOrNull),
    }),
    'A model answer stayed malformed to the end.',
  ),
  event(
    'envelope.refusal',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      provider: nonEmpty,
      model: nonEmpty,
      refusalText: optional(TextOrNull),
      safetyCategory: optional(TextOrNull),
    }),
    'The provider refused; this is never retried.',
  ),
  event(
    'envelope.truncated',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      provider: nonEmpty,
      model: nonEmpty,
      stopReason: Type.Enum(['max_tokens', 'length', 'stop_sequence', 'unknown']),
      partialPayloadAvailable: optional(Type.Boolean()),
      outputTokenCount: optional(IntegerOrNull),
    }),
    'The provider cut an answer off.',
  ),
  event(
    'envelope.nlToFormat.engaged',
    DEBUG,
    closed({ nodeId: nonEmpty, originalEnvelopeType: nonEmpty, fallbackCalls: optional(positive) }),
    'A second call reformats an answer into the wanted shape.',
  ),
  event(
    'envelope.recovery.applied',
    DEBUG,
    closed({
      nodeId: nonEmpty,
      path: Type.Enum(['direct', 'jsonrepair', 'markdown-fence', 'brace-walker', 'custom']),
      byteOffset: optional(IntegerOrNull),
    }),
    'A malformed answer could be read by a lenient parser.',
  ),
  event(
    'budget.reserved',
    DEBUG,
    closed({
      effectiveBudget: open({
        maxTokens: optional(count),
        maxCostUsd: optional(amount),
        maxToolCalls: optional(count),
        maxRetries: optional(count),
      }),
      scope: Type.Enum(['run', 'workflow', 'agent', 'project']),
    }),
    'The budget in force was fixed at the start of the run.',
  ),
  event(
    'budget.consumed',
    DEBUG,
    closed({
      dimension: BudgetDimension,
      consumed: amount,
      limit: amount,
      remaining: optional(Type.Number()),
    }),
    'What was spent so far in one dimension.',
  ),
  event(
    'budget.threshold.crossed',
    DEBUG,
    closed({
      dimension: BudgetDimension,
      consumed: amount,
      limit: amount,
      percent: Type.Number({ minimum: 0, maximum: 100 }),
    }),
    'Spending in one dimension crossed its warning threshold.',
  ),
  event(
    'budget.exhausted',
    DEBUG,
    closed({ dimension: BudgetDimension, consumed: amount, limit: amount }),
    'Spending in one dimension reached its limit.',
  ),
]);

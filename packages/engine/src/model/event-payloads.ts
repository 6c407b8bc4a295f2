import type { DocumentedPayloads, InterruptKind, Json, JsonObject } from '@weft/protocol';
import type { ChannelCommand } from './command.ts';
import type { EdgeError, RunStatus } from './run-state.ts';
import type { Reducer } from '../core/channels/reducers.ts';
import type { Sensitivity } from '../core/redaction/sensitivity.ts';

/**
 * Everything the engine and its nodes record, by type: what everyone may see, and what only the fold reads. The public part is what
 * the catalogue's schema says and, where that is open, what this host adds; a type without a row there does not compile. What is
 * private is never required: an erasure takes it away, and imported logs come without it.
 */
export interface EventPayloads {
  'run.started': Documented<'run.started'>;
  'run.paused': Documented<'run.paused'>;
  'run.resumed': Documented<'run.resumed', { reason?: string }>;
  'run.completed': Documented<'run.completed'>;
  'run.failed': Documented<'run.failed'>;
  'run.cancelled': Documented<'run.cancelled'>;
  'run.dead_lettered': Documented<'run.dead_lettered'>;
  'trigger.delivery.attempted': Documented<'trigger.delivery.attempted'>;

  'node.started': Documented<
    'node.started',
    OfNode & { loop?: boolean; itemCount?: number; delayMs?: number },
    {
      /** Where resolving them again later could give others, or they are sensitive. */
      inputs: JsonObject;
      sensitiveInputs: Sensitivity;
      /** Of a loop, fixed when it starts. */
      items: Json[];
      sensitiveItems: boolean;
      /** Sequence of the decision that the node carries out. */
      decisionSeq: number;
    }
  >;
  'node.completed': Documented<'node.completed', OfNode & CompletionExtras, { sensitive: Sensitivity }>;
  'node.failed': Documented<'node.failed', OfNode>;
  'node.skipped': Documented<'node.skipped', OfNode>;
  'node.cancelled': Documented<'node.cancelled', OfNode>;
  'node.retried': Documented<'node.retried', OfNode & { reason?: string }>;
  'node.suspended': Documented<'node.suspended', OfNode & (Asking | WaitingWithChild)>;
  'node.resumed': Documented<'node.resumed', OfNode>;
  'node.dispatched': Documented<
    'node.dispatched',
    unknown,
    OfNode & {
      /** Children of the node that came before. */
      done: number;
      childInputs: JsonObject;
      sensitiveChildInputs: Sensitivity;
      outputMapping: Record<string, string>;
      onFailure: 'fail' | 'absorb';
      propagateCancellation: boolean;
    }
  >;

  'interrupt.requested': Documented<
    'interrupt.requested',
    OfNode & { kind: InterruptKind; data: JsonObject; authRequired?: boolean },
    { sensitive: Sensitivity }
  >;
  'interrupt.resolved': Documented<
    'interrupt.resolved',
    OfNode & { kind?: InterruptKind; outcome?: 'rejected'; reason?: 'timeout' }
  >;
  'approval.requested': Documented<'approval.requested', OfNode>;
  'approval.received': Documented<'approval.received', OfNode & { interruptId?: string }>;
  'weft.approval.asked': Documented<'weft.approval.asked', OfNode>;
  'clarification.requested': Documented<'clarification.requested', OfNode>;
  'clarification.resolved': Documented<'clarification.resolved', OfNode & { interruptId?: string }>;
  'conversation.opened': WithSensitivity<'conversation.opened', Partial<OfNode>>;
  'conversation.exchanged': WithSensitivity<'conversation.exchanged', Partial<OfNode>>;
  'conversation.closed': WithSensitivity<'conversation.closed', { nodeId?: string }>;

  'variable.changed': WithSensitivity<'variable.changed'>;
  'channel.written': Documented<
    'channel.written',
    { reducer: Reducer },
    {
      /** The rules in force at the write. */
      ttlMs: number;
      maxSize: number;
      isUndeclared: boolean;
      sensitive: Sensitivity;
      /** The node of the child run that wrote. */
      writer: ChannelCommand['writer'];
      /** Nodes that the write makes due, and after how many milliseconds. */
      triggers: Record<string, number>;
    }
  >;
  'weft.step.started': Documented<'weft.step.started', OfNode>;
  'weft.step.completed': Documented<'weft.step.completed', OfNode>;
  'weft.step.failed': Documented<'weft.step.failed', OfNode>;
  'weft.step.retried': Documented<'weft.step.retried', OfNode>;
  'weft.channel.sent': Documented<'weft.channel.sent'>;
  'weft.trigger.fired': Documented<'weft.trigger.fired'>;
  'output.chunk': Documented<'output.chunk', unknown, { iteration: number[]; step: string }>;
  'log.appended': Documented<'log.appended', unknown, { refused: ChannelCommand }>;
  'version.pinned': Documented<'version.pinned'>;
  'cap.breached': Documented<'cap.breached', { scope?: string; step?: string; iteration?: number[] }>;
  'budget.reserved': Documented<'budget.reserved'>;
  'budget.consumed': Documented<'budget.consumed'>;
  'budget.threshold.crossed': Documented<'budget.threshold.crossed'>;
  'budget.exhausted': Documented<'budget.exhausted'>;
  'replay.diverged': Documented<'replay.diverged'>;

  'runOrchestrator.decided': WithSensitivity<'runOrchestrator.decided'>;
  'artifact.created': WithSensitivity<'artifact.created'>;
  'memory.written': WithSensitivity<'memory.written'>;
  'provider.usage': WithSensitivity<'provider.usage', unknown, { iteration: number[]; step: string }>;
  'prompt.composed': WithSensitivity<'prompt.composed'>;
  'agent.reasoned': WithSensitivity<'agent.reasoned'>;
  'agent.reasoning.delta': WithSensitivity<
    'agent.reasoning.delta',
    unknown,
    { iteration: number[]; step: string }
  >;
  'agent.toolCalled': WithSensitivity<'agent.toolCalled', { toolDigest?: string }>;
  'agent.toolReturned': WithSensitivity<'agent.toolReturned'>;
  'agent.handoff': WithSensitivity<'agent.handoff'>;
  'agent.decided': WithSensitivity<'agent.decided'>;
}

interface Documented<Type extends keyof DocumentedPayloads, More = unknown, Private = unknown> {
  readonly public: DocumentedPayloads[Type] & More;
  readonly whole: DocumentedPayloads[Type] & More & Partial<Private>;
}

/** The protocol's payload, with a private part for the fold: which of its values are sensitive. */
type WithSensitivity<Type extends keyof DocumentedPayloads, More = unknown, Private = unknown> = Documented<
  Type,
  More,
  Private & { sensitive: Sensitivity }
>;

/** Which execution of which node. */
export type OfNode = { nodeId: string; iteration?: number[] };

/** What a completion records besides the outputs. */
export type CompletionExtras = {
  /** Outgoing edges whose condition did not hold, and those whose condition could not be evaluated. */
  edgesNotTaken?: string[];
  edgeErrors?: Record<string, EdgeError>;
  /** Nodes of the cycle that begins again with this. */
  reenters?: string[];
  reason?: string;
};

type Asking = {
  kind: InterruptKind;
  key: string;
  childStatus?: undefined;
  /** Of a node that works in steps: under which name it gets the answer. */
  step?: string;
  agentId?: Json;
  threshold?: Json;
  observed?: Json;
};

type WaitingWithChild = { childRunId: string; childStatus: RunStatus };

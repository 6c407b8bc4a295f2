import { AGENTS_REQUIREMENTS } from './agents/requirements.ts';
import { ANNOTATIONS_REQUIREMENTS } from './annotations/requirements.ts';
import { AUDIT_REQUIREMENTS } from './audit/requirements.ts';
import { AUTH_REQUIREMENTS } from './auth/requirements.ts';
import { BUNDLES_REQUIREMENTS } from './bundles/requirements.ts';
import { CHANNELS_REQUIREMENTS } from './channels/requirements.ts';
import { CHILDREN_REQUIREMENTS } from './children/requirements.ts';
import { CONVERSATIONS_REQUIREMENTS } from './conversations/requirements.ts';
import { DIFF_REQUIREMENTS } from './diff/requirements.ts';
import { DISCOVERY_REQUIREMENTS } from './discovery/requirements.ts';
import { ERRORS_REQUIREMENTS } from './errors/requirements.ts';
import { EVENTS_REQUIREMENTS } from './events/requirements.ts';
import { FORKS_REQUIREMENTS } from './forks/requirements.ts';
import { GRPC_REQUIREMENTS } from './grpc/requirements.ts';
import { IDEMPOTENCY_REQUIREMENTS } from './idempotency/requirements.ts';
import { INTERRUPTS_REQUIREMENTS } from './interrupts/requirements.ts';
import { LIMITS_REQUIREMENTS } from './limits/requirements.ts';
import { MEMORY_REQUIREMENTS } from './memory/requirements.ts';
import { ORCHESTRATION_REQUIREMENTS } from './orchestration/requirements.ts';
import { PACKS_REQUIREMENTS } from './packs/requirements.ts';
import { PEERS_REQUIREMENTS } from './peers/requirements.ts';
import { POLLING_REQUIREMENTS } from './polling/requirements.ts';
import { PROCESSES_REQUIREMENTS } from './processes/requirements.ts';
import { PROMPTS_REQUIREMENTS } from './prompts/requirements.ts';
import { RUN_REQUIREMENTS } from './runs/requirements.ts';
import { SECRETS_REQUIREMENTS } from './secrets/requirements.ts';
import { STREAMS_REQUIREMENTS } from './streams/requirements.ts';
import { TELEMETRY_REQUIREMENTS } from './telemetry/requirements.ts';
import { TRANSPORT_REQUIREMENTS } from './transport/requirements.ts';
import { TRIGGERS_REQUIREMENTS } from './triggers/requirements.ts';
import { VERSIONS_REQUIREMENTS } from './versions/requirements.ts';
import { WEBHOOKS_REQUIREMENTS } from './webhooks/requirements.ts';
import { WIRE_SHAPE_REQUIREMENTS } from './wire-shape/requirements.ts';

/** Every requirement, by its number. Numbers are never used again for something else. */
export const REQUIREMENTS = {
  ...DISCOVERY_REQUIREMENTS,
  ...AUTH_REQUIREMENTS,
  ...ERRORS_REQUIREMENTS,
  ...VERSIONS_REQUIREMENTS,
  ...WIRE_SHAPE_REQUIREMENTS,
  ...TRANSPORT_REQUIREMENTS,
  ...GRPC_REQUIREMENTS,
  ...RUN_REQUIREMENTS,
  ...IDEMPOTENCY_REQUIREMENTS,
  ...EVENTS_REQUIREMENTS,
  ...LIMITS_REQUIREMENTS,
  ...CHANNELS_REQUIREMENTS,
  ...CHILDREN_REQUIREMENTS,
  ...PROCESSES_REQUIREMENTS,
  ...STREAMS_REQUIREMENTS,
  ...POLLING_REQUIREMENTS,
  ...DIFF_REQUIREMENTS,
  ...FORKS_REQUIREMENTS,
  ...BUNDLES_REQUIREMENTS,
  ...ANNOTATIONS_REQUIREMENTS,
  ...INTERRUPTS_REQUIREMENTS,
  ...AGENTS_REQUIREMENTS,
  ...CONVERSATIONS_REQUIREMENTS,
  ...ORCHESTRATION_REQUIREMENTS,
  ...MEMORY_REQUIREMENTS,
  ...SECRETS_REQUIREMENTS,
  ...WEBHOOKS_REQUIREMENTS,
  ...TRIGGERS_REQUIREMENTS,
  ...TELEMETRY_REQUIREMENTS,
  ...AUDIT_REQUIREMENTS,
  ...PACKS_REQUIREMENTS,
  ...PEERS_REQUIREMENTS,
  ...PROMPTS_REQUIREMENTS,
} as const;

export type RequirementId = keyof typeof REQUIREMENTS;

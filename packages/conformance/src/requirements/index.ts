import { AGENTS_REQUIREMENTS } from './agents.ts';
import { ANNOTATIONS_REQUIREMENTS } from './annotations.ts';
import { AUDIT_REQUIREMENTS } from './audit.ts';
import { AUTH_REQUIREMENTS } from './auth.ts';
import { BUNDLES_REQUIREMENTS } from './bundles.ts';
import { CHANNELS_REQUIREMENTS } from './channels.ts';
import { CHILDREN_REQUIREMENTS } from './children.ts';
import { CONVERSATIONS_REQUIREMENTS } from './conversations.ts';
import { DIFF_REQUIREMENTS } from './diff.ts';
import { DISCOVERY_REQUIREMENTS } from './discovery.ts';
import { ERRORS_REQUIREMENTS } from './errors.ts';
import { EVENTS_REQUIREMENTS } from './events.ts';
import { FORKS_REQUIREMENTS } from './forks.ts';
import { IDEMPOTENCY_REQUIREMENTS } from './idempotency.ts';
import { INTERRUPTS_REQUIREMENTS } from './interrupts.ts';
import { LIMITS_REQUIREMENTS } from './limits.ts';
import { MEMORY_REQUIREMENTS } from './memory.ts';
import { ORCHESTRATION_REQUIREMENTS } from './orchestration.ts';
import { PACKS_REQUIREMENTS } from './packs.ts';
import { PEERS_REQUIREMENTS } from './peers.ts';
import { POLLING_REQUIREMENTS } from './polling.ts';
import { PROCESSES_REQUIREMENTS } from './processes.ts';
import { RUN_REQUIREMENTS } from './runs.ts';
import { SECRETS_REQUIREMENTS } from './secrets.ts';
import { STREAMS_REQUIREMENTS } from './streams.ts';
import { TELEMETRY_REQUIREMENTS } from './telemetry.ts';
import { TRANSPORT_REQUIREMENTS } from './transport.ts';
import { VERSIONS_REQUIREMENTS } from './versions.ts';
import { WEBHOOKS_REQUIREMENTS } from './webhooks.ts';
import { WIRE_SHAPE_REQUIREMENTS } from './wire-shape.ts';

/** Every requirement, by its number. Numbers are never used again for something else. */
export const REQUIREMENTS = {
  ...DISCOVERY_REQUIREMENTS,
  ...AUTH_REQUIREMENTS,
  ...ERRORS_REQUIREMENTS,
  ...VERSIONS_REQUIREMENTS,
  ...WIRE_SHAPE_REQUIREMENTS,
  ...TRANSPORT_REQUIREMENTS,
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
  ...TELEMETRY_REQUIREMENTS,
  ...AUDIT_REQUIREMENTS,
  ...PACKS_REQUIREMENTS,
  ...PEERS_REQUIREMENTS,
} as const;

export type RequirementId = keyof typeof REQUIREMENTS;

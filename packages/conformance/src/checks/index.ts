import type { Check } from '../suite/check.ts';
import { AGENTS_CHECKS } from './agents.ts';
import { ANNOTATIONS_CHECKS } from './annotations.ts';
import { AUDIT_CHECKS } from './audit.ts';
import { AUTH_CHECKS } from './auth.ts';
import { BUNDLES_CHECKS } from './bundles.ts';
import { CHANNELS_CHECKS } from './channels.ts';
import { CHILDREN_CHECKS } from './children.ts';
import { CONVERSATIONS_CHECKS } from './conversations.ts';
import { DIFF_CHECKS } from './diff.ts';
import { DISCOVERY_CHECKS } from './discovery.ts';
import { ERRORS_CHECKS } from './errors.ts';
import { EVENTS_CHECKS } from './events.ts';
import { FORKS_CHECKS } from './forks.ts';
import { IDEMPOTENCY_CHECKS } from './idempotency.ts';
import { INTERRUPTS_CHECKS } from './interrupts.ts';
import { LIMITS_CHECKS } from './limits.ts';
import { MEMORY_CHECKS } from './memory.ts';
import { ORCHESTRATION_CHECKS } from './orchestration.ts';
import { PACKS_CHECKS } from './packs.ts';
import { PEERS_CHECKS } from './peers.ts';
import { POLLING_CHECKS } from './polling.ts';
import { PROCESSES_CHECKS } from './processes.ts';
import { RUN_CHECKS } from './runs.ts';
import { SECRETS_CHECKS } from './secrets.ts';
import { STREAMS_CHECKS } from './streams.ts';
import { TELEMETRY_CHECKS } from './telemetry.ts';
import { TRANSPORT_CHECKS } from './transport.ts';
import { VERSIONS_CHECKS } from './versions.ts';
import { WEBHOOKS_CHECKS } from './webhooks.ts';
import { WIRE_SHAPE_CHECKS } from './wire-shape.ts';

/** Every check, in the order in which reports list them. */
export const CHECKS: readonly Check[] = [
  ...DISCOVERY_CHECKS,
  ...AUTH_CHECKS,
  ...ERRORS_CHECKS,
  ...VERSIONS_CHECKS,
  ...WIRE_SHAPE_CHECKS,
  ...TRANSPORT_CHECKS,
  ...RUN_CHECKS,
  ...IDEMPOTENCY_CHECKS,
  ...EVENTS_CHECKS,
  ...LIMITS_CHECKS,
  ...CHANNELS_CHECKS,
  ...CHILDREN_CHECKS,
  ...PROCESSES_CHECKS,
  ...STREAMS_CHECKS,
  ...POLLING_CHECKS,
  ...DIFF_CHECKS,
  ...FORKS_CHECKS,
  ...BUNDLES_CHECKS,
  ...ANNOTATIONS_CHECKS,
  ...INTERRUPTS_CHECKS,
  ...AGENTS_CHECKS,
  ...CONVERSATIONS_CHECKS,
  ...ORCHESTRATION_CHECKS,
  ...MEMORY_CHECKS,
  ...SECRETS_CHECKS,
  ...WEBHOOKS_CHECKS,
  ...TELEMETRY_CHECKS,
  ...AUDIT_CHECKS,
  ...PACKS_CHECKS,
  ...PEERS_CHECKS,
];

import type { Check } from '../suite/check.ts';
import { AGENTS_CHECKS } from './agents/checks.ts';
import { ANNOTATIONS_CHECKS } from './annotations/checks.ts';
import { AUDIT_CHECKS } from './audit/checks.ts';
import { AUTH_CHECKS } from './auth/checks.ts';
import { BUNDLES_CHECKS } from './bundles/checks.ts';
import { CHANNELS_CHECKS } from './channels/checks.ts';
import { CHILDREN_CHECKS } from './children/checks.ts';
import { CONVERSATIONS_CHECKS } from './conversations/checks.ts';
import { COSTS_CHECKS } from './costs/checks.ts';
import { DIFF_CHECKS } from './diff/checks.ts';
import { DISCOVERY_CHECKS } from './discovery/checks.ts';
import { ERRORS_CHECKS } from './errors/checks.ts';
import { EVENTS_CHECKS } from './events/checks.ts';
import { FORKS_CHECKS } from './forks/checks.ts';
import { GRPC_CHECKS } from './grpc/checks.ts';
import { IDEMPOTENCY_CHECKS } from './idempotency/checks.ts';
import { INTERRUPTS_CHECKS } from './interrupts/checks.ts';
import { LIMITS_CHECKS } from './limits/checks.ts';
import { MEMORY_CHECKS } from './memory/checks.ts';
import { ORCHESTRATION_CHECKS } from './orchestration/checks.ts';
import { PACKS_CHECKS } from './packs/checks.ts';
import { PEERS_CHECKS } from './peers/checks.ts';
import { POLLING_CHECKS } from './polling/checks.ts';
import { PROCESSES_CHECKS } from './processes/checks.ts';
import { PROMPTS_CHECKS } from './prompts/checks.ts';
import { RUN_CHECKS } from './runs/checks.ts';
import { SECRETS_CHECKS } from './secrets/checks.ts';
import { STREAMS_CHECKS } from './streams/checks.ts';
import { TELEMETRY_CHECKS } from './telemetry/checks.ts';
import { TRANSPORT_CHECKS } from './transport/checks.ts';
import { TRIGGERS_CHECKS } from './triggers/checks.ts';
import { VERSIONS_CHECKS } from './versions/checks.ts';
import { WEBHOOKS_CHECKS } from './webhooks/checks.ts';
import { WIRE_SHAPE_CHECKS } from './wire-shape/checks.ts';

/** Every check, in the order in which reports list them. */
export const CHECKS: readonly Check[] = [
  ...DISCOVERY_CHECKS,
  ...AUTH_CHECKS,
  ...ERRORS_CHECKS,
  ...VERSIONS_CHECKS,
  ...WIRE_SHAPE_CHECKS,
  ...TRANSPORT_CHECKS,
  ...GRPC_CHECKS,
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
  ...TRIGGERS_CHECKS,
  ...TELEMETRY_CHECKS,
  ...AUDIT_CHECKS,
  ...PACKS_CHECKS,
  ...PEERS_CHECKS,
  ...PROMPTS_CHECKS,
  ...COSTS_CHECKS,
];

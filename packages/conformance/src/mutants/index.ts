import type { Mutant } from './mutant.ts';
import { AGENTS_MUTANTS } from './agents.ts';
import { ANNOTATIONS_MUTANTS } from './annotations.ts';
import { AUDIT_MUTANTS } from './audit.ts';
import { AUTH_MUTANTS } from './auth.ts';
import { BUNDLES_MUTANTS } from './bundles.ts';
import { CHANNELS_MUTANTS } from './channels.ts';
import { CHILDREN_MUTANTS } from './children.ts';
import { CONVERSATIONS_MUTANTS } from './conversations.ts';
import { DIFF_MUTANTS } from './diff.ts';
import { DISCOVERY_MUTANTS } from './discovery.ts';
import { ERRORS_MUTANTS } from './errors.ts';
import { EVENTS_MUTANTS } from './events.ts';
import { FORKS_MUTANTS } from './forks.ts';
import { IDEMPOTENCY_MUTANTS } from './idempotency.ts';
import { INTERRUPTS_MUTANTS } from './interrupts.ts';
import { LIMITS_MUTANTS } from './limits.ts';
import { MEMORY_MUTANTS } from './memory.ts';
import { ORCHESTRATION_MUTANTS } from './orchestration.ts';
import { PACKS_MUTANTS } from './packs.ts';
import { PEERS_MUTANTS } from './peers.ts';
import { POLLING_MUTANTS } from './polling.ts';
import { PROCESSES_MUTANTS } from './processes.ts';
import { RUN_MUTANTS } from './runs.ts';
import { SECRETS_MUTANTS } from './secrets.ts';
import { STREAMS_MUTANTS } from './streams.ts';
import { TELEMETRY_MUTANTS } from './telemetry.ts';
import { TRANSPORT_MUTANTS } from './transport.ts';
import { VERSIONS_MUTANTS } from './versions.ts';
import { WEBHOOKS_MUTANTS } from './webhooks.ts';
import { WIRE_SHAPE_MUTANTS } from './wire-shape.ts';

/** Every way to be wrong that the suite is known to notice. */
export const MUTANTS: readonly Mutant[] = [
  ...DISCOVERY_MUTANTS,
  ...AUTH_MUTANTS,
  ...ERRORS_MUTANTS,
  ...VERSIONS_MUTANTS,
  ...WIRE_SHAPE_MUTANTS,
  ...TRANSPORT_MUTANTS,
  ...RUN_MUTANTS,
  ...IDEMPOTENCY_MUTANTS,
  ...EVENTS_MUTANTS,
  ...LIMITS_MUTANTS,
  ...CHANNELS_MUTANTS,
  ...CHILDREN_MUTANTS,
  ...PROCESSES_MUTANTS,
  ...STREAMS_MUTANTS,
  ...POLLING_MUTANTS,
  ...DIFF_MUTANTS,
  ...FORKS_MUTANTS,
  ...BUNDLES_MUTANTS,
  ...ANNOTATIONS_MUTANTS,
  ...INTERRUPTS_MUTANTS,
  ...AGENTS_MUTANTS,
  ...CONVERSATIONS_MUTANTS,
  ...ORCHESTRATION_MUTANTS,
  ...MEMORY_MUTANTS,
  ...SECRETS_MUTANTS,
  ...WEBHOOKS_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...AUDIT_MUTANTS,
  ...PACKS_MUTANTS,
  ...PEERS_MUTANTS,
];

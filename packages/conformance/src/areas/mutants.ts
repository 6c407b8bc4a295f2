import type { Mutant } from '../mutants/mutant.ts';
import { AGENTS_MUTANTS } from './agents/mutants.ts';
import { ANNOTATIONS_MUTANTS } from './annotations/mutants.ts';
import { AUDIT_MUTANTS } from './audit/mutants.ts';
import { AUTH_MUTANTS } from './auth/mutants.ts';
import { BUNDLES_MUTANTS } from './bundles/mutants.ts';
import { CHANNELS_MUTANTS } from './channels/mutants.ts';
import { CHILDREN_MUTANTS } from './children/mutants.ts';
import { CONVERSATIONS_MUTANTS } from './conversations/mutants.ts';
import { COSTS_MUTANTS } from './costs/mutants.ts';
import { DIFF_MUTANTS } from './diff/mutants.ts';
import { DISCOVERY_MUTANTS } from './discovery/mutants.ts';
import { ERRORS_MUTANTS } from './errors/mutants.ts';
import { EVENTS_MUTANTS } from './events/mutants.ts';
import { FORKS_MUTANTS } from './forks/mutants.ts';
import { GRPC_MUTANTS } from './grpc/mutants.ts';
import { IDEMPOTENCY_MUTANTS } from './idempotency/mutants.ts';
import { INTERRUPTS_MUTANTS } from './interrupts/mutants.ts';
import { LIMITS_MUTANTS } from './limits/mutants.ts';
import { MEMORY_MUTANTS } from './memory/mutants.ts';
import { ORCHESTRATION_MUTANTS } from './orchestration/mutants.ts';
import { PACKS_MUTANTS } from './packs/mutants.ts';
import { PEERS_MUTANTS } from './peers/mutants.ts';
import { POLLING_MUTANTS } from './polling/mutants.ts';
import { PROCESSES_MUTANTS } from './processes/mutants.ts';
import { PROMPTS_MUTANTS } from './prompts/mutants.ts';
import { RUN_MUTANTS } from './runs/mutants.ts';
import { SECRETS_MUTANTS } from './secrets/mutants.ts';
import { STREAMS_MUTANTS } from './streams/mutants.ts';
import { TELEMETRY_MUTANTS } from './telemetry/mutants.ts';
import { TRANSPORT_MUTANTS } from './transport/mutants.ts';
import { TRIGGERS_MUTANTS } from './triggers/mutants.ts';
import { VERSIONS_MUTANTS } from './versions/mutants.ts';
import { WEBHOOKS_MUTANTS } from './webhooks/mutants.ts';
import { WIRE_SHAPE_MUTANTS } from './wire-shape/mutants.ts';

/** Every way to be wrong that the suite is known to notice. */
export const MUTANTS: readonly Mutant[] = [
  ...DISCOVERY_MUTANTS,
  ...AUTH_MUTANTS,
  ...ERRORS_MUTANTS,
  ...VERSIONS_MUTANTS,
  ...WIRE_SHAPE_MUTANTS,
  ...TRANSPORT_MUTANTS,
  ...GRPC_MUTANTS,
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
  ...TRIGGERS_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...AUDIT_MUTANTS,
  ...PACKS_MUTANTS,
  ...PEERS_MUTANTS,
  ...PROMPTS_MUTANTS,
  ...COSTS_MUTANTS,
];

import { randomBytes } from 'node:crypto';
import { type Clock, SYSTEM_CLOCK } from '../../ports/clock.ts';
import { type Log, SILENT } from '../../ports/log.ts';
import { type Models, NO_MODELS } from '../../ports/models.ts';
import { NO_PEERS, type Peers } from '../../ports/peers.ts';
import { NO_TOOLS, type Tools } from '../../ports/tools.ts';
import { poolRandom, type RandomBytes } from '../../runtime/runs/ids.ts';
import type { HostOptions } from '../host-options.ts';
import { type HostLimits, limitsFrom } from '../limits.ts';

export const DEFAULT_TENANT = 'default';

/** The options of a host with every default filled in. */
export interface HostSettings extends Omit<HostOptions, 'limits' | 'log' | 'clock' | 'random'> {
  readonly limits: HostLimits;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly defaultTenant: string;
  readonly egressAllow: readonly string[];
  readonly runtimeCapabilities: readonly string[];
  readonly models: Models;
  readonly tools: Tools;
  readonly peers: Peers;
  readonly auditRuns: boolean;
  readonly exportsTelemetry: boolean;
  /** A test host. */
  readonly test: boolean;
}

export function settingsFrom(options: HostOptions): HostSettings {
  const { models = NO_MODELS } = options;
  return {
    defaultTenant: DEFAULT_TENANT,
    egressAllow: [],
    runtimeCapabilities: [],
    tools: NO_TOOLS,
    peers: NO_PEERS,
    auditRuns: false,
    exportsTelemetry: false,
    log: SILENT,
    clock: SYSTEM_CLOCK,
    ...options,
    limits: limitsFrom(options.limits),
    random: poolRandom(options.random ?? randomBytes),
    test: options.conformance !== undefined,
    models: options.conformance?.models(models) ?? models,
  };
}

import {
  compileValidator,
  isHostError,
  type JsonObject,
  nameOf,
  type WorkflowDefinition,
  type WorkflowTrigger,
} from '@weft/protocol';
import { type Static, Type } from 'typebox';
import { SERVED_TRIGGERS } from '../../core/compile/document.ts';
import { pointer, schemaMessage } from '../../core/compile/problems.ts';
import type { Zones } from '../../core/schedules/due-times.ts';
import { newSchedule } from '../../core/schedules/lifecycle.ts';
import { OVERLAP_POLICIES, type Schedule, type ScheduleSpec } from '../../core/schedules/schedule.ts';
import { sha256Base64Url } from '../../crypto/hash.ts';
import type { Caller, NewSchedule, WorkflowProblem } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, DocumentWrite } from '../../ports/store.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { checkSchedule } from '../schedules/new-schedule.ts';
import { schedulePlace } from '../schedules/schedule-place.ts';
import { dueAtOf, readSchedule, scheduleWrite } from '../schedules/schedule-records.ts';
import type { Mappings } from './mapping.ts';
import { TRIGGER_SCHEMES } from './schemes.ts';
import {
  newTriggerWrites,
  readTrigger,
  removalWrites,
  type Trigger,
  triggerPlace,
} from './trigger-records.ts';

/**
 * Schedules and webhook triggers that a workflow declares. They belong to the definition: the version that is current decides which
 * there are, and they are written, changed and removed with its registration, in one transaction.
 */
export interface OwnedTriggers {
  /** What is wrong with those of a definition. */
  problems(definition: WorkflowDefinition): readonly WorkflowProblem[];
  /** What to write when the definition becomes current; nothing when all is as it should be. */
  changes(caller: Caller, definition: WorkflowDefinition): Promise<readonly DocumentWrite[]>;
}

export interface OwnedTriggerDependencies {
  readonly store: Pick<Documents, 'readDocument'>;
  readonly mappings: Mappings;
  readonly zones: Zones;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
}

const closed = { additionalProperties: false } as const;
const optional = Type.Optional;
const duration = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const moment = Type.String({ minLength: 1, maxLength: 64 });
const inputs = Type.Record(Type.String(), Type.Unknown());

const ScheduleConfig = Type.Object(
  {
    everyMs: optional(duration),
    cron: optional(Type.String({ maxLength: 256 })),
    timeZone: optional(Type.String({ maxLength: 64 })),
    inputs: optional(inputs),
    overlap: optional(Type.Enum([...OVERLAP_POLICIES])),
    jitterMs: optional(duration),
    catchUpMs: optional(duration),
    start: optional(moment),
    end: optional(moment),
    pauseOnFailure: optional(Type.Boolean()),
  },
  closed,
);
const WebhookConfig = Type.Object(
  {
    scheme: Type.Enum([...TRIGGER_SCHEMES]),
    secretId: nameOf({ minLength: 1, maxLength: 128 }),
    inputMapping: optional(Type.Record(Type.String(), Type.String())),
    dedupEnabled: optional(Type.Boolean()),
  },
  closed,
);
const checkScheduleConfig = compileValidator(ScheduleConfig);
const checkWebhookConfig = compileValidator(WebhookConfig);

/** Unless it says otherwise: an hour, so that an update of the host loses nothing. */
export const DEFAULT_CATCH_UP_MS = 60 * 60 * 1_000;
export const DEFAULT_RETRY_POLICY = { maxAttempts: 3, backoff: 'exponential' } as const;

/** Written with an interval, or a pattern; with a scheme. Others are warned about (`trigger_not_served`). */
function isServed({ type, config = {}, enabled }: WorkflowTrigger): boolean {
  const isOwned = type === 'schedule' || type === 'webhook';
  return isOwned && enabled !== false && SERVED_TRIGGERS[type]?.(config) === true;
}

interface Names {
  readonly schedules: readonly string[];
  readonly triggers: readonly string[];
}

const NO_NAMES: Names = { schedules: [], triggers: [] };

export function createOwnedTriggers(dependencies: OwnedTriggerDependencies): OwnedTriggers {
  const { store, mappings, clock, limits, zones } = dependencies;

  function scheduleOf({ id: workflowId }: WorkflowDefinition, { config = {} }: WorkflowTrigger, now: number) {
    const given = config as Static<typeof ScheduleConfig>;
    const request: Omit<NewSchedule, 'name'> = {
      workflowId,
      inputs: (given.inputs ?? {}) as JsonObject,
      ...(given.everyMs !== undefined && { everyMs: given.everyMs }),
      ...(given.cron !== undefined && { cron: given.cron }),
      ...(given.timeZone !== undefined && { timeZone: given.timeZone }),
      overlap: given.overlap ?? 'skip',
      jitterMs: given.jitterMs ?? 0,
      catchUpMs: given.catchUpMs ?? DEFAULT_CATCH_UP_MS,
      ...(given.start !== undefined && { start: Date.parse(given.start) }),
      ...(given.end !== undefined && { end: Date.parse(given.end) }),
      pauseOnFailure: given.pauseOnFailure ?? false,
    };
    return checkSchedule(request, now, { limits, zones });
  }

  function problemOf(
    definition: WorkflowDefinition,
    trigger: WorkflowTrigger,
    path: string,
  ): readonly WorkflowProblem[] {
    const { type, config = {} } = trigger;
    const found = type === 'schedule' ? checkScheduleConfig(config) : checkWebhookConfig(config);
    if (found.length > 0) {
      return found.map((problem) => ({
        path: `${path}${problem.path}`,
        code: 'trigger_config',
        message: schemaMessage(problem),
      }));
    }
    try {
      if (type === 'schedule') scheduleOf(definition, trigger, clock.now());
      else mappings.check((config as Static<typeof WebhookConfig>).inputMapping ?? {});
      return [];
    } catch (error) {
      if (!isHostError(error)) throw error;
      const field = error.details?.['field'];
      const place = typeof field === 'string' ? `/${field.replaceAll('.', '/')}` : '';
      return [{ path: `${path}${place}`, code: 'trigger_config', message: error.message }];
    }
  }

  async function scheduleWrites(
    caller: Caller,
    definition: WorkflowDefinition,
    trigger: WorkflowTrigger,
  ): Promise<DocumentWrite[]> {
    const at = clock.now();
    const name = scheduleName(definition, trigger);
    const stored = await store.readDocument(schedulePlace(caller.tenant, name));
    const known = stored && readSchedule(stored);
    const { spec, times } = scheduleOf(definition, trigger, at);
    if (known !== undefined && isSameSpec(known.schedule, spec)) return [];
    const ownedBy = { workflowId: definition.id, triggerId: trigger.id };
    const identity = {
      name,
      uid: randomId(dependencies.random),
      createdAt: at,
      createdBy: caller.principal,
      ownedBy,
    };
    const made = newSchedule(spec, identity, times);
    const schedule: Schedule =
      known?.schedule.paused === undefined ? made : { ...made, paused: known.schedule.paused };
    const replaces = known === undefined ? {} : { replaces: known.version };
    return [scheduleWrite(caller.tenant, schedule, { at, dueAt: dueAtOf(schedule), ...replaces })];
  }

  async function triggerWrites(
    caller: Caller,
    definition: WorkflowDefinition,
    { id: triggerId, config = {} }: WorkflowTrigger,
  ): Promise<DocumentWrite[]> {
    const { scheme, secretId, inputMapping, dedupEnabled = true } = config as Static<typeof WebhookConfig>;
    const id = ownedTriggerId(caller.tenant, definition.id, triggerId);
    const stored = await store.readDocument(triggerPlace(caller.tenant, id));
    const known = stored && readTrigger(caller.tenant, stored).trigger;
    const trigger: Trigger = {
      id,
      workflowId: definition.id,
      scheme,
      isPaused: known?.isPaused ?? false,
      secretId,
      ...(inputMapping !== undefined && { inputMapping }),
      dedupEnabled,
      retryPolicy: DEFAULT_RETRY_POLICY,
      createdAt: known?.createdAt ?? clock.now(),
      createdBy: caller.principal,
      ownedBy: { workflowId: definition.id, triggerId },
      changes: known?.changes ?? [],
    };
    if (
      known !== undefined &&
      JSON.stringify({ ...known, createdBy: trigger.createdBy }) === JSON.stringify(trigger)
    )
      return [];
    const [record, owner] = newTriggerWrites(caller.tenant, trigger);
    return [
      { ...record, ...(stored === undefined ? { onlyNew: true } : { replaces: stored.version }) },
      owner,
    ];
  }

  async function removals(caller: Caller, known: Names, wanted: Names): Promise<DocumentWrite[]> {
    const at = clock.now();
    return [
      ...known.schedules
        .filter((name) => !wanted.schedules.includes(name))
        .map((name): DocumentWrite => ({ ...schedulePlace(caller.tenant, name), at })),
      ...known.triggers
        .filter((id) => !wanted.triggers.includes(id))
        .flatMap((id) => removalWrites(caller.tenant, id, at)),
    ];
  }

  return {
    problems: (definition) =>
      definition.triggers.flatMap((trigger, index) =>
        isServed(trigger) ? problemOf(definition, trigger, pointer('triggers', index, 'config')) : [],
      ),
    async changes(caller, definition) {
      const served = definition.triggers.filter(isServed);
      const place = { tenant: caller.tenant, collection: 'owned-triggers', scope: '', id: definition.id };
      const stored = await store.readDocument(place);
      if (stored === undefined && served.length === 0) return [];
      const known = stored === undefined ? NO_NAMES : (JSON.parse(stored.body) as Names);
      const ofType = (type: string): readonly WorkflowTrigger[] =>
        served.filter((trigger) => trigger.type === type);
      const wanted: Names = {
        schedules: ofType('schedule').map((trigger) => scheduleName(definition, trigger)),
        triggers: ofType('webhook').map(({ id }) => ownedTriggerId(caller.tenant, definition.id, id)),
      };
      const writes: DocumentWrite[] = [];
      for (const trigger of ofType('schedule'))
        writes.push(...(await scheduleWrites(caller, definition, trigger)));
      for (const trigger of ofType('webhook'))
        writes.push(...(await triggerWrites(caller, definition, trigger)));
      writes.push(...(await removals(caller, known, wanted)));
      const body = JSON.stringify(wanted);
      if (stored?.body === body) return writes;
      const condition = stored === undefined ? { onlyNew: true } : { replaces: stored.version };
      return [...writes, { ...place, body, at: clock.now(), ...condition }];
    },
  };
}

/** A client's names have no dot. */
function scheduleName({ id }: WorkflowDefinition, trigger: WorkflowTrigger): string {
  return `${id}.${trigger.id}`;
}

/** The same for every version, so that senders keep their URL. */
export function ownedTriggerId(tenant: string, workflowId: string, triggerId: string): string {
  return `tr_${sha256Base64Url(`weft-trigger\n${tenant}\n${workflowId}\n${triggerId}`).slice(0, 22)}`;
}

/** An interval without a start begins when it is registered; that is no difference. */
function isSameSpec(known: Schedule, spec: ScheduleSpec): boolean {
  const comparable = ({
    timing,
    workflowId,
    inputs,
    overlap,
    jitterMs,
    catchUpMs,
    start,
    end,
    pauseOnFailure,
  }: ScheduleSpec) =>
    JSON.stringify([
      'cron' in timing ? [timing.cron, timing.timeZone] : [timing.everyMs],
      workflowId,
      inputs,
      overlap,
      jitterMs,
      catchUpMs,
      start ?? null,
      end ?? null,
      pauseOnFailure,
    ]);
  return comparable(known) === comparable(spec);
}

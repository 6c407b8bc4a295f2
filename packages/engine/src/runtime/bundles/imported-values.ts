import { type Annotation, eventId, HostError, isJsonObject, type JsonObject, toIso } from '@weft/protocol';
import { initialState } from '../../core/fold/evolve.ts';
import { type FilledValues, fillValues } from '../../core/import/fill-values.ts';
import { type MaskedPlaces, type MaskedSlots, placesOf } from '../../core/import/masked-slots.ts';
import { createMarkedFold, type NeededSlot, nameOf } from '../../core/import/missing-values.ts';
import type { BundleAnnotation } from '../../core/import/read-annotations.ts';
import type { Plan } from '../../core/compile/plan.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { ForkRequest } from '../../host/host.ts';
import type { DocumentPlace, Documents, RunLog, RunRow } from '../../ports/store.ts';
import type { KeptAnnotations } from '../annotations/annotations.ts';

/** What is stored with an imported run: the places of its masked values, and what people said where it came from. */
export const MASKS_COLLECTION = 'import-masks';
export const SAID_COLLECTION = 'import-annotations';

const IDS: Readonly<Record<string, string>> = { [MASKS_COLLECTION]: 'slots', [SAID_COLLECTION]: 'said' };

type Kept = Pick<CreationRecord, 'tenant' | 'runId'>;

export function importedPlace({ tenant, runId }: Kept, collection: string): DocumentPlace {
  return { tenant, collection, scope: runId, id: IDS[collection] ?? collection };
}

export interface ForkOfImport {
  readonly source: RunRow;
  readonly request: ForkRequest;
  readonly fromSeq: number;
  /** Of the fork. */
  readonly plan: Plan;
}

/**
 * The values with which a fork of an imported run can do without what was masked; undefined where nothing was imported. Throws
 * HostError `values_missing` with everything that is not given.
 */
export type FillImported = (fork: ForkOfImport) => Promise<FilledValues | undefined>;

const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 1024 * 1024;

const NOTHING_MASKED: MaskedSlots = { inputs: [], configurable: [], events: {}, isSilent: false };

async function masksOf(store: Documents, record: Kept): Promise<MaskedSlots> {
  const stored = await store.readDocument(importedPlace(record, MASKS_COLLECTION));
  return stored === undefined ? NOTHING_MASKED : (JSON.parse(stored.body) as MaskedSlots);
}

/** What a bundle of this run must list as masked although nothing was masked here; undefined where nothing was imported. */
export async function maskedBefore(
  store: Documents,
  record: CreationRecord,
): Promise<MaskedPlaces | undefined> {
  return record.imported === undefined ? undefined : placesOf(await masksOf(store, record));
}

export function createFillImported(store: RunLog & Documents): FillImported {
  /** A fork of a fork may be cut where the log is still that of the imported run. */
  async function rootOf(row: RunRow, cut: number): Promise<CreationRecord | undefined> {
    const { record } = row;
    if (record.fork === undefined) return record.imported === undefined ? undefined : record;
    if (cut >= record.fork.fromSeq && cut > 0) return undefined;
    const source = await store.readRun(record.fork.sourceRunId, record.tenant);
    return source === undefined ? undefined : rootOf(source, cut);
  }

  async function neededAt(
    record: CreationRecord,
    plan: Plan,
    masks: MaskedSlots,
    cut: number,
  ): Promise<{ slots: NeededSlot[]; unset: string[] }> {
    const state = initialState(record, plan);
    const fold = createMarkedFold(plan, state);
    const changed = new Set<string>();
    for (let seq = 0; seq < cut; ) {
      const page = await store.readEvents(record.runId, seq, Math.min(PAGE_EVENTS, cut - seq), PAGE_BYTES);
      if (page.length === 0) break;
      for (const event of page) {
        fold.add(event, masks.events[event.seq] ?? []);
        if (event.type === 'variable.changed') changed.add(nameOfVariable(event.payload));
      }
      seq += page.length;
    }
    const unset = [...plan.variables.keys()].filter(
      (name) => masks.isSilent && !Object.hasOwn(record.inputs, name) && !changed.has(name),
    );
    return { slots: fold.needed(), unset };
  }

  /** What a replay would take from the record after the cut; what pure nodes did is worked out again. */
  async function recordedAfter(row: RunRow, plan: Plan, masks: MaskedSlots, cut: number): Promise<string[]> {
    const names: string[] = [];
    for (const [seq, slots] of Object.entries(masks.events)) {
      if (Number(seq) < cut) continue;
      const [event] = await store.readEvents(row.record.runId, Number(seq), 1, PAGE_BYTES);
      if (event === undefined || event.type.startsWith('run.')) continue;
      if (plan.nodes.get(event.nodeId ?? '')?.type.kind === 'pure') continue;
      const payload: unknown = JSON.parse(event.payload);
      const read = isJsonObject(payload) ? payload : {};
      names.push(...slots.map((slot) => nameOf(event, read, slot)));
    }
    return names;
  }

  return async ({ source, request, fromSeq, plan }) => {
    const root = await rootOf(source, fromSeq);
    if (root === undefined) return undefined;
    const masks = await masksOf(store, root);
    const { slots, unset } = await neededAt(root, plan, masks, fromSeq);
    // An earlier fork may have been given some of them.
    const isKnown = (name: string): boolean =>
      source.record !== root &&
      JSON.stringify(source.record.inputs[name]) !== JSON.stringify(root.inputs[name]);
    const configurable: JsonObject = request.overlay?.configurable ?? {};
    return fillValues(
      {
        inputs: [...new Set([...masks.inputs, ...unset])].filter((name) => !isKnown(name)),
        configurable: masks.configurable,
        slots,
        recorded: request.mode === 'replay' ? await recordedAfter(source, plan, masks, fromSeq) : [],
      },
      request.values ?? {},
      configurable,
    );
  };
}

function nameOfVariable(payload: string): string {
  const read: unknown = JSON.parse(payload);
  return isJsonObject(read) ? String(read['name']) : '';
}

/** Throws where an imported run has no definition of its own and the fork names none. */
export function checkDefinition({ imported }: CreationRecord, isNamed: boolean): void {
  if (imported?.definition === undefined || isNamed) return;
  const reason =
    imported.definition === 'missing'
      ? 'came without its definition, and none with its digest is registered here'
      : 'has a definition that this host cannot run';
  throw new HostError(
    'definition_missing',
    `This run was imported and ${reason}, so it can be shown and compared but not forked. ` +
      'Register a version of its workflow and fork with that workflowVersion.',
    { definition: imported.definition },
  );
}

/** So that no one of another host is taken for someone of this one who has the same name. */
const ELSEWHERE = 'imported:';

/** As they are shown here: about this run, by someone of another host. */
export function importedAnnotations(runId: string, said: readonly BundleAnnotation[]): Annotation[] {
  return said.map(({ annotationId, seq, nodeId, signal, principal, note, createdAt }) => ({
    annotationId,
    target: {
      runId,
      ...(seq !== undefined && { eventId: eventId(runId, seq) }),
      ...(nodeId !== undefined && { nodeId }),
    },
    signal: signal as Annotation['signal'],
    actor: { principalRef: principal.startsWith(ELSEWHERE) ? principal : `${ELSEWHERE}${principal}` },
    ...(note !== undefined && { note }),
    createdAt: toIso(createdAt),
  }));
}

/**
 * The same annotations, with those that came with a bundle before them. They are kept apart: they take no room from what is said
 * here, and no one can add to them.
 */
export function withImportedAnnotations(store: Documents, own: KeptAnnotations): KeptAnnotations {
  async function importedOf(run: Kept): Promise<readonly Annotation[]> {
    const stored = await store.readDocument(importedPlace(run, SAID_COLLECTION));
    return stored === undefined ? [] : (JSON.parse(stored.body) as Annotation[]);
  }

  return {
    ...own,
    of: async (tenant, runId) => [...(await importedOf({ tenant, runId })), ...(await own.of(tenant, runId))],
    async list(caller, runId) {
      const said = await own.list(caller, runId);
      return said && [...(await importedOf({ tenant: caller.tenant, runId })), ...said];
    },
  };
}

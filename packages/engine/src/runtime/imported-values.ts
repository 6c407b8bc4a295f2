import { HostError, isJsonObject, type JsonObject } from '@weft/protocol';
import { initialState } from '../core/evolve.ts';
import { type FilledValues, fillValues } from '../core/import/fill-values.ts';
import type { MaskedSlots } from '../core/import/masked-slots.ts';
import { createMarkedFold, type NeededSlot, nameOf } from '../core/import/missing-values.ts';
import type { Plan } from '../core/plan.ts';
import type { CreationRecord } from '../core/run-state.ts';
import type { ForkRequest } from '../host.ts';
import type { RunRow, Store } from '../store.ts';

/** Where the places of an imported run's masked values are kept, with the run. */
export const MASKS_COLLECTION = 'import-masks';
export const MASKS_ID = 'slots';

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

export function createFillImported(
  store: Pick<Store, 'readRun' | 'readEvents' | 'readDocument'>,
): FillImported {
  /** A fork of a fork may be cut where the log is still that of the imported run. */
  async function rootOf(row: RunRow, cut: number): Promise<CreationRecord | undefined> {
    const { record } = row;
    if (record.fork === undefined) return record.imported === undefined ? undefined : record;
    if (cut >= record.fork.fromSeq && cut > 0) return undefined;
    const source = await store.readRun(record.fork.sourceRunId, record.tenant);
    return source === undefined ? undefined : rootOf(source, cut);
  }

  async function masksOf({ tenant, runId }: CreationRecord): Promise<MaskedSlots> {
    const place = { tenant, collection: MASKS_COLLECTION, scope: runId, id: MASKS_ID };
    const stored = await store.readDocument(place);
    return stored === undefined ? NOTHING_MASKED : (JSON.parse(stored.body) as MaskedSlots);
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

  /** What a replay would take from the record after the cut; what pure nodes did is worked out anew. */
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
    const masks = await masksOf(root);
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

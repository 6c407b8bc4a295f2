import { createHash } from 'node:crypto';
import type { Annotation, Json } from '@weft/protocol';
import {
  type BundleAssembly,
  type BundleSource,
  createBundleAssembly,
  type RunningHash,
} from '../../core/bundle/assembly.ts';
import { createBundleRedaction } from '../../core/bundle/bundle-redaction.ts';
import { readInputs } from '../../core/json/lazy-inputs.ts';
import type { Plan } from '../../core/compile/plan.ts';
import type { CreationRecord, RunState } from '../../model/run-state.ts';
import type { BundleRequest, Bundles, Caller, Runs } from '../../host/host.ts';
import type { Ed25519Key } from '../../crypto/ed25519.ts';
import type { Documents, RunLog, RunRow, StoredEvent, WorkflowRegistry } from '../../ports/store.ts';
import { maskedBefore } from './imported-values.ts';
import { runCooperatively, nextTurn } from '../fairness/run-cooperatively.ts';

/**
 * Debug bundles: reads what the assembly needs and hands its text on, a page of events at a time. How many events there are is
 * fixed before the first byte, so the bundle of a running run is a consistent prefix.
 */
export interface BundleDependencies {
  readonly store: RunLog & WorkflowRegistry & Documents;
  /** Ascending from a sequence; the whole log, wherever its pieces are kept. */
  readonly readEvents: RunLog['readEvents'];
  readonly snapshot: Runs['snapshot'];
  readonly withState: <Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result) => Promise<Result>;
  readonly annotationsOf: (tenant: string, runId: string) => Promise<readonly Annotation[]>;
  readonly host: BundleSource['host'];
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Signs what goes out; a host without one gives bundles with a digest alone. */
  readonly key?: Ed25519Key | undefined;
}

const MAX_BUNDLE_BYTES = 8 * 1024 * 1024;

const PAGE_EVENTS = 200;
const PAGE_BYTES = 256 * 1024;

export function createBundles(dependencies: BundleDependencies): Bundles {
  const { key, maxBytes = MAX_BUNDLE_BYTES } = dependencies;

  async function sourceOf(caller: Caller, row: RunRow): Promise<BundleSource | undefined> {
    const { record } = row;
    // Seen as by someone who may only read: links that answer questions do not travel.
    const view = await dependencies.snapshot({ ...caller, scopes: new Set(['runs:read']) }, record.runId);
    if (view === undefined) return undefined;
    // What stands in for the definition of an imported run is no one's workflow.
    const text =
      record.imported?.definition === undefined
        ? await dependencies.store.readDefinition(record.definitionDigest)
        : undefined;
    const annotations = await dependencies.annotationsOf(record.tenant, record.runId);
    const before = await maskedBefore(dependencies.store, record);
    await runCooperatively(record.tenant, readInputs(record));
    return await dependencies.withState(row, (plan, state) => ({
      record,
      snapshot: currentNode(view.snapshot, row),
      definition: text === undefined ? undefined : (JSON.parse(text) as Json),
      annotations,
      redaction: createBundleRedaction(plan, record, state),
      ...(before !== undefined && { maskedBefore: before }),
      generatedAt: dependencies.now(),
      host: dependencies.host,
      totalEvents: view.seq + 1,
      nodeIds: [...state.nodes.values()].map((node) => node.nodeId),
    }));
  }

  function readPage(runId: string, seq: number, limit: number): Promise<readonly StoredEvent[]> {
    return dependencies.readEvents(runId, seq, Math.min(PAGE_EVENTS, limit - seq), PAGE_BYTES);
  }

  async function* textOf(
    { tenant, runId }: CreationRecord,
    assembly: BundleAssembly,
    first: readonly StoredEvent[],
  ): AsyncGenerator<string, void, undefined> {
    yield assembly.open();
    let seq = 0;
    let isCut = false;
    while (seq < assembly.limit && !isCut) {
      const page = seq === 0 ? first : await readPage(runId, seq, assembly.limit);
      if (page.length === 0) throw new Error('The log is shorter than its head says.');
      let text = '';
      for (const event of page) {
        const piece = assembly.add(event);
        isCut = piece === undefined;
        if (isCut) break;
        text += piece;
        seq = event.seq + 1;
      }
      if (text !== '') yield text;
      // Other requests get their turn, also when the store answers without waiting.
      await nextTurn(tenant);
    }
    yield assembly.close();
  }

  return {
    async text(caller, runId, request: BundleRequest = {}) {
      const row = await dependencies.store.readRun(runId, caller.tenant);
      const source = row === undefined ? undefined : await sourceOf(caller, row);
      if (source === undefined) return undefined;
      const { maxEvents } = request;
      // Each of the pieces of a large run takes a turn of its own.
      await nextTurn(caller.tenant);
      const assembly = await runCooperatively(
        caller.tenant,
        createBundleAssembly(source, {
          maxBytes,
          hash: runningSha256(),
          ...(key !== undefined && { key }),
          ...(maxEvents !== undefined && { maxEvents }),
        }),
      );
      // What cannot be read at its beginning is an error, not a bundle that breaks off.
      return textOf(source.record, assembly, await readPage(runId, 0, assembly.limit));
    },
  };
}

type Snapshot = BundleSource['snapshot'];

function currentNode(snapshot: Snapshot, { head }: RunRow): Snapshot {
  if (snapshot.currentNodeId !== undefined || head.currentNodeId === undefined) return snapshot;
  return { ...snapshot, currentNodeId: head.currentNodeId };
}

function runningSha256(): RunningHash {
  const hash = createHash('sha256');
  return { update: (text) => void hash.update(text, 'utf8'), hex: () => hash.digest('hex') };
}

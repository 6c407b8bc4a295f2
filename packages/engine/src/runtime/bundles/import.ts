import { HostError, isHostError, type Json, type JsonObject } from '@weft/protocol';
import { evolve, initialState } from '../../core/fold/evolve.ts';
import { fromStored } from '../../core/fold/from-stored.ts';
import { deriveCauses } from '../../core/import/derive-causes.ts';
import { importRunId } from '../../core/import/import-run-id.ts';
import { bundleCooperatively, type ImportedBundle } from '../../core/import/read-bundle.ts';
import { refuseBundle } from '../../core/import/refuse.ts';
import type { Plan } from '../../core/compile/plan.ts';
import {
  type CreationRecord,
  type ImportOrigin,
  isTerminalStatus,
  type RunState,
} from '../../model/run-state.ts';
import { snapshotCooperatively } from '../../core/fold/snapshot.ts';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import type {
  RunHead,
  RunLog,
  RunRow,
  RunUnit,
  StoredEvent,
  WorkflowRegistry,
  WriteUnit,
} from '../../ports/store.ts';
import type { Caller, ImportedRun, Imports } from '../../host/host.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Compile } from '../workflows/compile-definition.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import { importedAnnotations, importedPlace, MASKS_COLLECTION, SAID_COLLECTION } from './imported-values.ts';
import type { HostLimits } from '../../host/limits.ts';
import { effectiveLimits } from '../runs/new-run-checks.ts';
import { ENGINE_VERSION } from '../../model/versions.ts';
import { identify } from '../workflows/workflows.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * Bundles of other hosts, and of this one, become runs that are only read.
 *
 * 1. Everything is checked before anything is written. The run comes into being with its whole log in one unit, so it is there
 *    entirely or not at all; what is written before it (definition, places of masked values, annotations) is found by its digest
 *    or id and changes nothing on its own.
 * 2. Its id is made from tenant and bundle: the same bundle again is the same run.
 * 3. No one ever claims it: nothing makes it due, and commands are refused before they reach its inbox.
 */
export interface ImportDependencies {
  readonly store: RunLog & WorkflowRegistry;
  readonly committer: Committer;
  readonly compile: Compile;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
}

/** Definitions that came with bundles are found by digest, but cannot be started as workflows: no tenant has this name. */
const OWNER_OF_DEFINITIONS = '';

/** What is pinned where no definition can be used: the fold needs one to start from, and this one says nothing. */
const STAND_IN: JsonObject = {
  id: 'imported-run',
  name: 'An imported run without a definition',
  version: '1',
  nodes: [
    {
      id: 'imported',
      typeId: 'core.noop',
      name: 'Imported',
      position: { x: 0, y: 0 },
      config: {},
      inputs: {},
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual' }],
  variables: [],
  metadata: {},
  settings: {},
};

interface Pinned {
  readonly plan: Plan;
  readonly digest: string;
  /** Absent when the store has it. */
  readonly text?: string;
  readonly problem?: NonNullable<ImportOrigin['definition']>;
}

export function createImports(dependencies: ImportDependencies): Imports {
  const { store, committer, compile, clock, limits } = dependencies;

  async function importBundle(caller: Caller, document: Json): Promise<ImportedRun> {
    const bundle = await runCooperatively(caller.tenant, bundleCooperatively(document));
    const runId = importRunId(caller.tenant, bundle.digest);
    const known = await store.readRun(runId, caller.tenant);
    if (known !== undefined) return answerOf(known, false);

    const pinned = await definitionFor(caller, bundle);
    const record = recordOf(caller, runId, bundle, pinned);
    const state = await runCooperatively(caller.tenant, foldOf(record, pinned.plan, bundle));
    const events = await runCooperatively(caller.tenant, deriveCauses(pinned.plan, bundle.events));
    if (pinned.text !== undefined) await write(definitionUnit(pinned.digest, pinned.text));
    await write(documentUnit(record, MASKS_COLLECTION, bundle.masked));
    if (bundle.annotations.length > 0)
      await write(documentUnit(record, SAID_COLLECTION, importedAnnotations(runId, bundle.annotations)));
    const unit = runUnit(caller, record, state, events);
    const result = await committer.submit(unit);
    const isNew = result.state === 'committed';
    if (!isNew && !(result.state === 'refused' && result.reason === 'run_exists')) throw writeFailure(result);
    return answerOf({ record, head: unit.head, nextSeq: bundle.events.length }, isNew);
  }

  async function definitionFor(caller: Caller, bundle: ImportedBundle): Promise<Pinned> {
    const { digest, document } = bundle.definition;
    if (document !== undefined) {
      if (document['id'] !== bundle.workflowId)
        throw refuseBundle('/weft/definition/id', 'its definition is that of another workflow.');
      return (await pinDocument(caller, document)) ?? (await standIn(caller, 'unusable'));
    }
    const registered = digest === undefined ? undefined : await registeredAs(caller, bundle, digest);
    if (digest === undefined || registered === undefined) return await standIn(caller, 'missing');
    const { plan } = await compile(JSON.parse(registered), digest, caller.tenant, 'registered');
    return plan === undefined ? await standIn(caller, 'unusable') : { plan, digest };
  }

  /** The tenant's own registry, the version the bundle names and the current one: a digest alone opens nothing. */
  async function registeredAs(
    { tenant }: Caller,
    { workflowId, workflowVersion }: ImportedBundle,
    digest: string,
  ): Promise<string | undefined> {
    for (const version of new Set([workflowVersion, undefined])) {
      const row = await store.readWorkflow(tenant, workflowId, version);
      if (row?.digest === digest) return await store.readDefinition(digest);
    }
    return undefined;
  }

  async function pinDocument({ tenant }: Caller, document: JsonObject): Promise<Pinned | undefined> {
    try {
      const { digest, text } = await runCooperatively(tenant, identify(document, limits.maxDefinitionBytes));
      const { plan } = await compile(document, digest, tenant, 'registered');
      return plan === undefined ? undefined : { plan, digest, text };
    } catch (error) {
      // A definition that is too large or too strange for this host does not prevent reading the run.
      if (isHostError(error)) return undefined;
      throw error;
    }
  }

  async function standIn(caller: Caller, problem: NonNullable<ImportOrigin['definition']>): Promise<Pinned> {
    const pinned = await pinDocument(caller, STAND_IN);
    if (pinned === undefined) throw new Error('the definition that stands in for others does not compile');
    return { ...pinned, problem };
  }

  function recordOf(caller: Caller, runId: string, bundle: ImportedBundle, pinned: Pinned): CreationRecord {
    const { configurable } = bundle;
    return {
      runId,
      tenant: caller.tenant,
      workflowId: bundle.workflowId,
      workflowVersion: bundle.workflowVersion ?? 'unknown',
      definitionDigest: pinned.digest,
      createdAt: clock.now(),
      principal: caller.principal,
      ...(caller.workspace !== undefined && { workspace: caller.workspace }),
      inputs: bundle.inputs,
      configurable,
      tags: bundle.tags,
      metadata: bundle.metadata,
      transport: 'rest',
      engineVersion: ENGINE_VERSION,
      limits: effectiveLimits({ configurable }, pinned.plan, limits),
      imported: {
        bundleDigest: bundle.digest,
        runId: bundle.runId,
        ...(bundle.host !== undefined && { host: bundle.host }),
        verified: bundle.verified,
        ...(bundle.signer !== undefined && { signedBy: bundle.signer.fingerprint }),
        ...(bundle.isCut && { totalEvents: bundle.totalEvents }),
        ...(pinned.problem !== undefined && { definition: pinned.problem }),
      },
    };
  }

  function definitionUnit(digest: string, definition: string): WriteUnit {
    return {
      kind: 'workflow',
      batchId: randomId(dependencies.random),
      tenant: OWNER_OF_DEFINITIONS,
      id: digest,
      version: digest,
      digest,
      definition,
      registeredAt: clock.now(),
    };
  }

  /** Goes when the run goes. */
  function documentUnit(record: CreationRecord, collection: string, content: unknown): WriteUnit {
    return {
      kind: 'document',
      batchId: randomId(dependencies.random),
      ...importedPlace(record, collection),
      body: JSON.stringify(content),
      at: clock.now(),
    };
  }

  function runUnit(
    caller: Caller,
    record: CreationRecord,
    state: RunState,
    events: readonly StoredEvent[],
  ): RunUnit {
    const { tenant, runId, createdAt, imported } = record;
    return {
      kind: 'run',
      batchId: randomId(dependencies.random),
      tenant,
      runId,
      create: { record, exclusiveScope: false },
      epoch: 0,
      expectedSeq: 0,
      events,
      head: headOf(state),
      audit: [
        auditOf(caller, {
          at: createdAt,
          action: 'run.import',
          target: runId,
          details: {
            bundleDigest: imported?.bundleDigest ?? '',
            verified: imported?.verified === true,
            ...(imported?.signedBy !== undefined && { signedBy: imported.signedBy }),
          },
        }),
      ],
    };
  }

  async function write(unit: WriteUnit): Promise<void> {
    const result = await committer.submit(unit);
    if (result.state !== 'committed') throw writeFailure(result);
  }

  return { create: importBundle };
}

/** Folded once before it is written: what cannot be folded and shown must not get into the store. */
function* foldOf(record: CreationRecord, plan: Plan, { events }: ImportedBundle): CooperativeTask<RunState> {
  const state = initialState(record, plan);
  let seq = 0;
  try {
    for (const event of events) {
      seq = event.seq;
      evolve(state, fromStored(event));
      yield;
    }
    yield* snapshotCooperatively(plan, record, state, { status: state.status });
  } catch (error) {
    if (isHostError(error)) throw error;
    throw refuseBundle(`/events/${seq}`, `event ${seq} does not have the shape of its type.`);
  }
  return state;
}

/** Nothing wakes it, whatever the original was waiting for. */
function headOf(state: RunState): RunHead {
  return {
    status: state.status,
    wakeAt: null,
    ...(state.startedAt !== undefined && { startedAt: state.startedAt }),
    ...(state.endedAt !== undefined && { endedAt: state.endedAt }),
    ...(state.failedNodeId !== undefined && { currentNodeId: state.failedNodeId }),
    ...(typeof state.error?.code === 'string' && { errorCode: state.error.code }),
  };
}

function answerOf(
  { record, head, nextSeq }: Pick<RunRow, 'record' | 'head' | 'nextSeq'>,
  created: boolean,
): ImportedRun {
  const { imported } = record;
  return {
    created,
    runId: record.runId,
    sourceRunId: imported?.runId ?? record.runId,
    status: head.status,
    verified: imported?.verified === true,
    ...(imported?.signedBy !== undefined && { signedBy: imported.signedBy }),
    events: nextSeq,
    totalEvents: imported?.totalEvents ?? nextSeq,
    truncated: (imported?.totalEvents ?? nextSeq) > nextSeq,
    definition: imported?.definition ?? 'present',
  };
}

/** Imported runs are read and forked; nothing else happens to them. */
export function refuseImported({ record, head }: RunRow): void {
  if (record.imported === undefined) return;
  throw new HostError(
    'conflict',
    'This run was imported from a bundle and is read-only. Fork it to continue from one of its events.',
    { runStatus: head.status, imported: true, ended: isTerminalStatus(head.status) },
  );
}

import { type Annotation, type AnnotationCreate, HostError, RUN_ANNOTATED, toIso } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { RunState } from '../../model/run-state.ts';
import { redactDeep } from '../../core/redaction/scan/credential-text.ts';
import { redactorFor } from '../../core/redaction/sensitive.ts';
import type { Annotated, Annotations, Caller } from '../../host/host.ts';
import type { DocumentUnit, RunRow, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * What people say about runs. Annotations are stored apart from the log: nothing in the fold, in forks or in replays depends on them, so a run
 * that has ended can still be annotated. Open streams of this process are notified at once; readers elsewhere poll.
 */
export interface KeptAnnotations extends Annotations {
  /** Oldest first. The caller has already checked that the run may be seen. */
  readonly of: (tenant: string, runId: string) => Promise<readonly Annotation[]>;
}

export interface AnnotationDependencies {
  readonly store: Pick<Store, 'readRun' | 'listDocuments'>;
  readonly committer: Committer;
  readonly withState: <Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result) => Promise<Result>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly idempotency: Idempotency;
}

const COLLECTION = 'annotation';
/** The list is one answer, so it must end somewhere. */
const MAX_PER_RUN = 1_000;

export function createAnnotations(dependencies: AnnotationDependencies): KeptAnnotations {
  const { store, committer, clock } = dependencies;
  const listeners = createListeners();

  async function create(
    caller: Caller,
    row: RunRow,
    request: AnnotationCreate,
    remember: Remember<Annotation>,
  ): Promise<Annotated> {
    const { runId } = row.record;
    const annotation = await dependencies.withState(row, (plan, state) => {
      checkTarget(request, runId, plan, state);
      const redactor = redactorFor(plan, row.record, state);
      return newAnnotation(caller, row, request, (text) => redactDeep(redactor.redactText(text)));
    });
    await checkRoom(caller.tenant, runId);
    const result = await committer.submit(newUnit(caller, annotation, remember));
    if (result.state !== 'committed') throw writeFailure(result);
    listeners.tell(annotation);
    return { replayed: false, annotation };
  }

  function newAnnotation(
    caller: Caller,
    row: RunRow,
    { signal, target, note }: AnnotationCreate,
    scrub: (text: string) => string,
  ): Annotation {
    return {
      annotationId: `ann_${randomId(dependencies.random)}`,
      target: { runId: row.record.runId, ...target },
      signal: scrubbedSignal(signal, scrub),
      actor: { principalRef: caller.principal },
      ...(note !== undefined && { note: scrub(note) }),
      createdAt: toIso(clock.now()),
    };
  }

  function newUnit(caller: Caller, annotation: Annotation, remember: Remember<Annotation>): DocumentUnit {
    const { annotationId, target, signal } = annotation;
    const now = clock.now();
    return {
      kind: 'document',
      batchId: randomId(dependencies.random),
      tenant: caller.tenant,
      collection: COLLECTION,
      scope: target.runId,
      id: annotationId,
      body: JSON.stringify(annotation),
      at: now,
      onlyNew: true,
      audit: [
        auditOf(caller, {
          at: now,
          action: 'run.annotate',
          target: target.runId,
          details: { annotationId, kind: signal.kind },
        }),
      ],
      ...remember.answer(annotation),
    };
  }

  async function of(tenant: string, runId: string): Promise<readonly Annotation[]> {
    const { rows } = await store.listDocuments(tenant, COLLECTION, runId, { limit: MAX_PER_RUN });
    return rows.map((row) => JSON.parse(row.body) as Annotation).reverse();
  }

  /** Two at the same moment may both find room; a list that is one longer harms no one. */
  async function checkRoom(tenant: string, runId: string): Promise<void> {
    const { rows } = await store.listDocuments(tenant, COLLECTION, runId, { limit: MAX_PER_RUN });
    if (rows.length < MAX_PER_RUN) return;
    throw new HostError(
      'conflict',
      `The run has ${MAX_PER_RUN} annotations, the most it may have. Say more in another place and link to it.`,
      { limit: MAX_PER_RUN, observed: rows.length },
    );
  }

  return {
    async create(caller, runId, request, claim) {
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return undefined;
      return await dependencies.idempotency.once(caller, claim, (remember) =>
        create(caller, row, request, remember),
      );
    },
    of,
    async list(caller, runId) {
      const row = await store.readRun(runId, caller.tenant);
      return row === undefined ? undefined : await of(caller.tenant, runId);
    },
    subscribe: listeners.add,
  };
}

function checkTarget({ target }: AnnotationCreate, runId: string, plan: Plan, state: RunState): void {
  if (target?.nodeId !== undefined && !plan.nodes.has(target.nodeId))
    throw noSuchTarget('target.nodeId', 'names no node of this run; see its definition for those it has.');
  if (target?.eventId !== undefined && !isEventOf(target.eventId, runId, state))
    throw noSuchTarget(
      'target.eventId',
      'names no event of this run; take the eventId of one of its events.',
    );
}

function isEventOf(eventId: string, runId: string, state: RunState): boolean {
  if (!eventId.startsWith(`${runId}-`)) return false;
  const seq = eventId.slice(runId.length + 1);
  return /^(?:0|[1-9]\d{0,14})$/.test(seq) && Number(seq) < state.nextSeq;
}

function noSuchTarget(field: string, problem: string): HostError {
  return new HostError('validation_error', `${field} ${problem}`, { field });
}

function scrubbedSignal(
  signal: AnnotationCreate['signal'],
  scrub: (text: string) => string,
): Annotation['signal'] {
  switch (signal.kind) {
    case 'label':
      return { kind: 'label', label: scrub(signal.label) };
    case 'correction':
      return { kind: 'correction', correction: scrub(signal.correction) };
    case 'rating':
    case 'flag':
      return { ...signal };
  }
}

interface Listeners {
  add(runId: string, listener: (document: string) => void): () => void;
  tell(annotation: Annotation): void;
}

/** Who watches which run. The notice has the shape of an event without a number, because it is in no log. */
function createListeners(): Listeners {
  const byRun = new Map<string, Set<(document: string) => void>>();
  return {
    add(runId, listener) {
      const listeners = byRun.get(runId) ?? new Set();
      byRun.set(runId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byRun.get(runId) === listeners) byRun.delete(runId);
      };
    },
    tell(annotation) {
      const listeners = byRun.get(annotation.target.runId);
      if (listeners === undefined) return;
      const document = JSON.stringify({
        eventId: annotation.annotationId,
        runId: annotation.target.runId,
        type: RUN_ANNOTATED,
        timestamp: annotation.createdAt,
        ...(annotation.target.nodeId !== undefined && { nodeId: annotation.target.nodeId }),
        payload: annotation,
      });
      for (const listener of listeners) listener(document);
    },
  };
}

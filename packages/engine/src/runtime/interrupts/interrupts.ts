import { HostError, type JsonObject, toIso } from '@weft/protocol';
import { heapBytesOf } from '../../core/json/heap-bytes.ts';
import type { Plan } from '../../core/compile/plan.ts';
import { shownMembers } from '../../core/decide/recorder.ts';
import { maskingOf } from '../../core/redaction/redaction.ts';
import { isTerminalStatus, type NodeState, nodeKey, type RunState } from '../../model/run-state.ts';
import { redactorFor } from '../../core/redaction/sensitive.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import type {
  Caller,
  CommandOutcome,
  IdempotencyClaim,
  LinkOutcome,
  Interrupts,
  LinkAnswer,
  LinkedQuestion,
  OpenInterrupt,
  Runs,
} from '../../host/host.ts';
import type { ResolveCommand, RunRow, Store, CommandResult } from '../../ports/store.ts';
import type { Idempotency } from '../commits/idempotency.ts';
import { nextTurn } from '../fairness/run-cooperatively.ts';
import { type Link, type LinkTo, type Links, noSuchLink } from './links.ts';

export interface InterruptDependencies {
  readonly store: Pick<Store, 'readRun' | 'listRuns'>;
  readonly command: Runs['command'];
  readonly withState: <Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result) => Promise<Result>;
  readonly links: Links;
  readonly idempotency: Idempotency;
  readonly now: () => number;
}

const PAGE_BYTES = 1024 * 1024;
const RECORD_BYTES = 256 * 1024;
const RUNS_AT_ONCE = 16;
const WAITING = ['waiting-approval', 'waiting-input', 'waiting-external'] as const;

/** Questions that runs have asked: which are open, what they say, and why a late answer is refused. */
export function createInterrupts(dependencies: InterruptDependencies): Interrupts {
  const { store, withState, links, now } = dependencies;
  const linkTo = links.linkFor('snapshot');

  async function open(token: string): Promise<{ row: RunRow; link: Link }> {
    const link = await links.read(token);
    const row = await store.readRun(link.runId, undefined);
    if (row === undefined) throw noSuchLink();
    return { row, link };
  }

  return {
    /** A page ends with as many runs as asked for, or with as many bytes as no one waits for; memory holds one run at a time. */
    async list(caller, page, signal) {
      const found: OpenInterrupt[] = [];
      let { cursor } = page;
      let runs = 0;
      let bytes = 0;
      do {
        const listed = await store.listRuns(
          caller.tenant,
          { status: WAITING },
          {
            limit: Math.min(page.limit - runs, RUNS_AT_ONCE),
            maxBytes: RECORD_BYTES,
            ...(cursor !== undefined && { cursor }),
          },
        );
        for (const row of listed.rows) {
          if (caller.workspace !== undefined && row.record.workspace !== caller.workspace) continue;
          const questions = await withState(row, (plan, state) => openInterrupts(row, plan, state, linkTo));
          found.push(...questions);
          for (const { data } of questions) bytes += heapBytesOf(data);
        }
        runs += listed.rows.length;
        cursor = listed.nextCursor;
        if (signal?.aborted === true) break;
        if (cursor !== undefined) await nextTurn(caller.tenant);
      } while (cursor !== undefined && runs < page.limit && bytes < PAGE_BYTES);
      return { rows: found, ...(cursor !== undefined && { nextCursor: cursor }) };
    },

    async inspectLink(token) {
      const { row, link } = await open(token);
      return await withState(row, (plan, state) => {
        const node = state.nodes.get(nodeKey(link.nodeId, link.iteration ?? []));
        checkLink(link, node, state, now());
        return linkedQuestion(link, row, { plan, state, node });
      });
    },

    async checkLink(token, isRepeatable) {
      const { row, link } = await open(token);
      checkIntent(link);
      // What has answered the question may be this very request, sent once already.
      if (isRepeatable) return;
      await withState(row, (_plan, state) =>
        checkLink(link, state.nodes.get(nodeKey(link.nodeId, link.iteration ?? [])), state, now()),
      );
    },

    async answerLink(token, value, { address, idempotency: asked } = {}): Promise<LinkAnswer> {
      const { row, link } = await open(token);
      checkIntent(link);
      const claim = asked && claimOf(link, asked);
      try {
        await withState(row, (_plan, state) =>
          checkLink(link, state.nodes.get(nodeKey(link.nodeId, link.iteration ?? [])), state, now()),
        );
      } catch (error) {
        // Looked for after the question, not before: what answered it may be this very request, sent once already.
        const isKnown = claim && (await dependencies.idempotency.isKnown(holderOf(row, address), claim));
        if (isKnown !== true) throw error;
      }
      const command: ResolveCommand = {
        type: 'resolve',
        nodeId: link.nodeId,
        ...(link.iteration !== undefined && { iteration: link.iteration }),
        interruptId: link.interruptId,
        value,
        by: `link:${link.interruptId}`,
        byUser: false,
        viaLink: true,
      };
      const answer = await dependencies.command(holderOf(row, address), link.runId, command, claim);
      if (answer === undefined) throw noSuchLink();
      return answer.replayed ? answer : { ...answer, runId: link.runId, nodeId: link.nodeId };
    },
  };
}

function checkIntent({ intent }: Link): void {
  if (intent === 'resolve') return;
  throw new HostError('forbidden', 'This link shows the question; it cannot answer it.');
}

/** In the protocol's order: answered before, then past its end, then the run is over. */
function checkLink(
  link: Link,
  node: NodeState | undefined,
  state: RunState,
  now: number,
): asserts node is NodeState {
  const interrupt = node?.interrupt;
  if (interrupt === undefined) throw noSuchLink();
  if (interrupt.closed !== undefined || interrupt.interruptId !== link.interruptId) throw alreadyAnswered();
  if (link.validUntil <= now)
    throw new HostError('interrupt_expired', 'This link has expired; read the run for a new one.');
  if (isTerminalStatus(state.status)) throw alreadyAnswered();
}

function alreadyAnswered(): HostError {
  return new HostError('interrupt_already_resolved', 'The question has been answered, or its run is over.');
}

/** The holder of a link to another question can neither collide with these keys nor learn that they were used. */
function claimOf(
  { runId, nodeId, interruptId }: Link,
  asked: IdempotencyClaim<LinkOutcome>,
): IdempotencyClaim<CommandOutcome> {
  return {
    ...asked,
    keyHash: sha256Hex(JSON.stringify([runId, interruptId, asked.keyHash])),
    render: (outcome) => asked.render({ ...outcome, runId, nodeId }),
  };
}

/** A link acts for its run's tenant and for nothing else in it. */
function holderOf({ record }: RunRow, address: string | undefined): Caller {
  return {
    tenant: record.tenant,
    principal: 'link',
    keyId: 'link',
    kind: 'service',
    test: false,
    scopes: new Set(),
    ...(address !== undefined && { address }),
  };
}

/** The open questions of a run, as its owner may see them. */
export function openInterrupts(row: RunRow, plan: Plan, state: RunState, linkTo: LinkTo): OpenInterrupt[] {
  // No one here can answer what another host has asked.
  if (row.record.imported !== undefined) return [];
  return state.suspended.flatMap((key) => {
    const node = state.nodes.get(key);
    const interrupt = node?.interrupt;
    if (node === undefined || interrupt === undefined) return [];
    const { runId } = row.record;
    const place = {
      nodeId: node.nodeId,
      ...(node.iteration.length > 0 && { iteration: node.iteration }),
      interruptId: interrupt.interruptId,
    };
    // Where a link would be refused, none is given out.
    const token = interrupt.authRequired === true ? undefined : linkTo({ runId, ...place }, node.dueAt);
    return [
      {
        runId,
        workflowId: row.record.workflowId,
        ...place,
        ...shownQuestion(row, plan, state, node),
        requestedAt: toIso(interrupt.requestedAt),
        ...(node.dueAt !== undefined && { expiresAt: toIso(node.dueAt) }),
        votes: interrupt.votes.map(({ voter, action }) => ({ voter, action })),
        ...(token !== undefined && { interruptToken: token }),
      },
    ];
  });
}

interface Asking {
  readonly plan: Plan;
  readonly state: RunState;
  readonly node: NodeState;
}

function linkedQuestion(link: Link, row: RunRow, { plan, state, node }: Asking): LinkedQuestion {
  const { requestedAt } = node.interrupt as NonNullable<NodeState['interrupt']>;
  return {
    question: shownQuestion(row, plan, state, node),
    workflow: { id: row.record.workflowId, name: plan.definition.name },
    requestedAt: toIso(requestedAt),
    ...(node.dueAt !== undefined && { expiresAt: toIso(node.dueAt) }),
    linkExpiresAt: toIso(link.validUntil),
  };
}

function shownQuestion({ record }: RunRow, plan: Plan, state: RunState, node: NodeState): OpenQuestion {
  const { kind, key, data, sensitive, resumeSchema, timeoutMs } = node.interrupt as NonNullable<
    NodeState['interrupt']
  >;
  const open = shownMembers(data, sensitive, maskingOf(plan, record.tenant));
  const shown = redactorFor(plan, record, state).apply(open, JSON.stringify(open), true) ?? open;
  return {
    kind,
    key,
    data: shown,
    ...(resumeSchema !== undefined && { resumeSchema }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

type OpenQuestion = Pick<OpenInterrupt, 'kind' | 'key' | 'data' | 'resumeSchema' | 'timeoutMs'>;

/** Why an answer to a run that is over cannot be taken. */
export function lateAnswer(state: RunState, command: ResolveCommand): CommandResult {
  const interrupt = state.nodes.get(nodeKey(command.nodeId, command.iteration ?? []))?.interrupt;
  const { status } = state;
  const refuse = (code: LateCode, message: string, details?: JsonObject): CommandResult => ({
    applied: false,
    status,
    refusal: { code, message, ...(details !== undefined && { details }) },
  });
  if (interrupt === undefined) return refuse('interrupt_not_found', 'This node has asked nothing.');
  if (interrupt.closed === 'cancelled')
    return refuse('interrupt_gone', 'The run was cancelled, and the question with it.');
  return refuse('interrupt_already_resolved', 'The question has been answered already.');
}

type LateCode = 'interrupt_not_found' | 'interrupt_gone' | 'interrupt_already_resolved';

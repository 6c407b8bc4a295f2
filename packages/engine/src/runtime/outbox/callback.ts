import { isJsonObject, pathOf } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import { isTerminalStatus, type RunState } from '../../model/run-state.ts';
import type { OpenInterrupt } from '../../host/host.ts';
import type { RunLog, RunRow } from '../../ports/store.ts';
import { openInterrupts } from '../interrupts/interrupts.ts';
import type { Links } from '../interrupts/links.ts';
import type { Message, Render } from './delivery.ts';
import { seqOf } from './rows.ts';

export interface CallbackDependencies {
  readonly store: RunLog;
  readonly withState: <Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result) => Promise<Result>;
  /** Signs links to questions. */
  readonly links: Links;
  /** Signs the callbacks of a tenant. */
  readonly signingSecret: (tenant: string) => Promise<string>;
  /** Base of links, when the host knows under which name it is reached. */
  readonly publicUrl?: string | undefined;
}

/** What stands for a webhook's id in the headers of a callback. */
const CALLBACK_ID = 'callback';
const EVENT_TYPE = 'interrupt.requested';

/**
 * The message of a callback row: the question with a link that answers it for as long as it is open. Nothing when it has been answered, has timed
 * out, or its run is over.
 */
export function createCallbackRender(dependencies: CallbackDependencies): Render {
  const { store, withState, links } = dependencies;
  const linkTo = links.linkFor('callback');

  async function questionOf(run: RunRow, seq: number): Promise<OpenInterrupt | undefined> {
    const [event] = await store.readEvents(run.record.runId, seq, 1, 1);
    const payload: unknown = event === undefined ? undefined : JSON.parse(event.payload);
    if (event === undefined || !isJsonObject(payload)) return undefined;
    return await withState(run, (plan, state) =>
      isTerminalStatus(state.status)
        ? undefined
        : openInterrupts(run, plan, state, linkTo).find(
            (question) => question.interruptId === payload['interruptId'] && question.nodeId === event.nodeId,
          ),
    );
  }

  return async (row): Promise<Message | undefined> => {
    const run = await store.readRun(row.runId, undefined);
    if (run?.record.callbackUrl === undefined) return undefined;
    const question = await questionOf(run, seqOf(row.body));
    if (question === undefined) return undefined;
    return {
      tenant: run.record.tenant,
      url: run.record.callbackUrl,
      webhookId: CALLBACK_ID,
      eventType: EVENT_TYPE,
      body: JSON.stringify(shown(question, dependencies.publicUrl)),
      secret: await dependencies.signingSecret(run.record.tenant),
    };
  };
}

function shown(question: OpenInterrupt, publicUrl: string | undefined): object {
  const { requestedAt: _requestedAt, votes: _votes, interruptToken, ...rest } = question;
  return {
    ...rest,
    ...(interruptToken !== undefined && { interruptToken }),
    ...(interruptToken !== undefined &&
      publicUrl !== undefined && {
        resolveUrl:
          publicUrl.replace(/\/+$/, '') + pathOf('resolveInterruptByToken', { token: interruptToken }),
      }),
  };
}

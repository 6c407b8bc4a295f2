import { isJsonObject } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';
import { nodeKeyOf } from '../output/run-progress.ts';
import { type AskedQuestion, CHILD } from '../output/question.ts';

/** Tells a person who follows a run about the questions it waits for, each once. */
export interface QuestionNotices {
  see(event: RunEventDocument): void;
  close(): void;
}

/** A followed log begins with what is long over: only a question that is still open after this time is news. */
export const SETTLE_MS = 150;

const CLOSING: ReadonlySet<string> = new Set([
  'interrupt.resolved',
  'node.resumed',
  'node.completed',
  'node.failed',
  'node.cancelled',
]);

export function createQuestionNotices(tell: (question: AskedQuestion) => void): QuestionNotices {
  const untold = new Map<string, AskedQuestion>();
  let timer: NodeJS.Timeout | undefined;

  function tellAll(): void {
    timer = undefined;
    for (const question of untold.values()) tell(question);
    untold.clear();
  }

  return {
    see(event) {
      const payload = isJsonObject(event.payload) ? event.payload : {};
      const key = nodeKeyOf(event, payload);
      const question = questionIn(event);
      if (question !== undefined) untold.set(key, question);
      else if (CLOSING.has(event.type)) untold.delete(key);
      if (untold.size > 0) timer ??= setTimeout(tellAll, SETTLE_MS);
    },
    close() {
      clearTimeout(timer);
      untold.clear();
    },
  };
}

function questionIn(event: RunEventDocument): AskedQuestion | undefined {
  const { payload, nodeId, runId } = event;
  if (nodeId === undefined || !isJsonObject(payload)) return undefined;
  const { kind, data, iteration, childRunId } = payload;
  if (event.type === 'node.suspended' && typeof childRunId === 'string') {
    return { runId, nodeId, kind: CHILD, data: { childRunId } };
  }
  if (event.type !== 'interrupt.requested') return undefined;
  return {
    runId,
    nodeId,
    ...(Array.isArray(iteration) && { iteration: iteration.map(Number) }),
    kind: typeof kind === 'string' ? kind : 'custom',
    data: isJsonObject(data) ? data : {},
  };
}

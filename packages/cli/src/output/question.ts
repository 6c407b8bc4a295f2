import { isJsonObject } from '@weft/protocol/plain';
import { type OpenInterrupt, nodeNameOf } from '@weft/sdk';
import { printable } from './table.ts';

/** What is known of a question from its event as well as from a list. */
export type AskedQuestion = Pick<OpenInterrupt, 'runId' | 'nodeId' | 'iteration' | 'kind' | 'data'>;

const WAITED_FOR: Readonly<Record<string, string>> = {
  approval: 'an approval',
  clarification: 'answers to its questions',
  'external-event': 'an event from outside',
  'conversation.exchange': 'the next turn of a conversation',
  'low-confidence': 'somebody to confirm a decision',
  child: 'its child run, which waits too',
};

/** The question in the fewest words: its title, its first question, or the event it waits for. */
export function asksText({ data }: Pick<AskedQuestion, 'data'>): string {
  const questions = Array.isArray(data['questions']) ? data['questions'] : [];
  const first = isJsonObject(questions[0]) ? questions[0]['question'] : undefined;
  const asked = [data['title'], first, data['prompt'], data['eventType'], data['customKind']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  const more = asked === first && questions.length > 1 ? ` (and ${questions.length - 1} more)` : '';
  return `${typeof asked === 'string' ? asked : ''}${more}`;
}

/** `1/2` where an approval counts voices; empty where the first answer decides anyway. */
export function votesText({ kind, data, votes }: OpenInterrupt): string {
  if (kind !== 'approval') return '';
  const required = typeof data['requiredApprovals'] === 'number' ? data['requiredApprovals'] : 1;
  const rejects = votes.filter(({ action }) => action === 'reject').length;
  const rejected = rejects === 0 ? '' : `, ${rejects} against`;
  return `${votes.length - rejects}/${required}${rejected}`;
}

/** Commands that answer the question, as they can be pasted into a shell; the most likely one first. */
export function answerCommands(question: AskedQuestion): readonly [string, ...string[]] {
  const place = `${shellWord(question.runId)} ${shellWord(nodeNameOf(question))}`;
  switch (question.kind) {
    case 'approval':
      return [`weft approve ${place}`, `weft reject ${place}`];
    case 'clarification':
      return [`weft answer ${place} ${questionIds(question).map(blank).join(' ')}`];
    case 'external-event':
      return [`weft resolve ${place} --value ${shellWord(JSON.stringify(correlationOf(question)))}`];
    case 'conversation.exchange':
      return [
        `weft resolve ${place} --value '{"content":"…"}'`,
        `weft resolve ${place} --value '{"operation":"close"}'`,
      ];
    case 'low-confidence':
      return [
        `weft resolve ${place} --value '{"ratified":true}'`,
        `weft resolve ${place} --value '{"rejected":true}'`,
      ];
    case 'child':
      return [`weft runs why ${shellWord(String(question.data['childRunId']))}`, 'weft inbox'];
    default:
      return [`weft resolve ${place} --value @answer.json`];
  }
}

/** What a person who watches a run is told when it waits: for what, and how to give it. */
export function waitingText(question: AskedQuestion): string {
  const asks = asksText(question);
  const head = `Node ${nodeNameOf(question)} waits for ${WAITED_FOR[question.kind] ?? 'an answer'}`;
  const lines = answerCommands(question).map((command) => `  ${command}`);
  return [printable(asks === '' ? `${head}.` : `${head}: ${asks}`), ...lines].join('\n');
}

function questionIds({ data }: AskedQuestion): string[] {
  const questions = Array.isArray(data['questions']) ? data['questions'] : [];
  return questions.flatMap((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
  );
}

function blank(questionId: string): string {
  return shellWord(`${questionId}=ANSWER`);
}

function correlationOf({ data }: AskedQuestion): unknown {
  return isJsonObject(data['correlation']) ? data['correlation'] : {};
}

/** Ids and values come from whoever wrote the workflow: a pasted command must not run anything but weft. */
export function shellWord(text: string): string {
  const safe = printable(text);
  return /^[A-Za-z0-9_.:=@/+-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", String.raw`'\''`)}'`;
}

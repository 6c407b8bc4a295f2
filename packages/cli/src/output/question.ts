import { isJsonObject } from '@weft/protocol/plain';
import { type OpenInterrupt, nodeNameOf } from '@weft/sdk';
import { visibleText } from './terminal-text.ts';
import { shellCommand, shellWord } from './shell-command.ts';

/** What is known of a question from its event as well as from a list. */
export type AskedQuestion = Pick<OpenInterrupt, 'runId' | 'nodeId' | 'iteration' | 'kind' | 'data'>;

const WAITED_FOR: Readonly<Record<string, string>> = {
  approval: 'an approval',
  clarification: 'answers to its questions',
  'external-event': 'an external event',
  'conversation.exchange': 'the next turn of a conversation',
  'low-confidence': 'a person to confirm a decision',
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
  const place = [question.runId, nodeNameOf(question)];
  const resolve = (value: string): string => shellCommand('resolve', place, `--value ${value}`);
  switch (question.kind) {
    case 'approval':
      return [shellCommand('approve', place), shellCommand('reject', place)];
    case 'clarification':
      return [shellCommand('answer', [...place, ...questionIds(question).map((id) => `${id}=ANSWER`)])];
    case 'external-event':
      return [resolve(shellWord(JSON.stringify(correlationOf(question))))];
    case 'conversation.exchange':
      return [resolve(`'{"content":"…"}'`), resolve(`'{"operation":"close"}'`)];
    case 'low-confidence':
      return [resolve(`'{"ratified":true}'`), resolve(`'{"rejected":true}'`)];
    case 'child':
      return [shellCommand('runs why', [String(question.data['childRunId'])]), 'weft inbox'];
    default:
      return [resolve('@answer.json')];
  }
}

/** What a person who watches a run is told when it waits: for what, and how to give it. */
export function waitingText(question: AskedQuestion): string {
  const asks = asksText(question);
  const head = `Node ${nodeNameOf(question)} waits for ${WAITED_FOR[question.kind] ?? 'an answer'}`;
  const lines = answerCommands(question).map((line) => `  ${line}`);
  return [visibleText(asks === '' ? `${head}.` : `${head}: ${asks}`), ...lines].join('\n');
}

function questionIds({ data }: AskedQuestion): string[] {
  const questions = Array.isArray(data['questions']) ? data['questions'] : [];
  return questions.flatMap((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
  );
}

function correlationOf({ data }: AskedQuestion): unknown {
  return isJsonObject(data['correlation']) ? data['correlation'] : {};
}

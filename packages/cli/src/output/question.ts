import { type InterruptKind, isJsonObject, type JsonObject, waitingFor } from '@weft/protocol/plain';
import { type OpenInterrupt, nodeNameOf } from '@weft/sdk';
import { visibleText } from './terminal-text.ts';
import { shellCommand } from './shell-command.ts';
import { shellWord } from './shell-word.ts';

/** What is known of a question from its event as well as from a list. */
export type AskedQuestion = Pick<OpenInterrupt, 'runId' | 'nodeId' | 'iteration' | 'kind' | 'data'>;

/** A node that waits for its child run is shown like a question. */
export const CHILD = 'child';

interface Answering {
  readonly data: JsonObject;
  /** The run and the node, as words of a command line. */
  readonly place: readonly string[];
  /** The command that gives any value. */
  readonly resolve: (value: string) => string;
}

/** Commands that answer a question of each kind, the most likely one first. */
const COMMANDS: {
  readonly [Kind in InterruptKind | typeof CHILD]: (asked: Answering) => readonly [string, ...string[]];
} = {
  approval: ({ place }) => [shellCommand('approve', place), shellCommand('reject', place)],
  clarification: ({ data, place }) => [
    shellCommand('answer', [...place, ...questionIds(data).map((id) => `${id}=ANSWER`)]),
  ],
  'external-event': ({ data, resolve }) => [resolve(shellWord(JSON.stringify(data['correlation'] ?? {})))],
  custom: ({ resolve }) => [resolve('@answer.json')],
  'conversation.exchange': ({ resolve }) => [
    resolve(`'{"content":"…"}'`),
    resolve(`'{"operation":"close"}'`),
  ],
  'low-confidence': ({ resolve }) => [resolve(`'{"ratified":true}'`), resolve(`'{"rejected":true}'`)],
  child: ({ data }) => [shellCommand('runs why', [String(data['childRunId'])]), shellCommand('inbox', [])],
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

/** `1/2` where an approval counts votes; empty where the first answer decides anyway. */
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
  // Hosts may ask in kinds that are newer than this program.
  const kind = Object.hasOwn(COMMANDS, question.kind) ? (question.kind as keyof typeof COMMANDS) : 'custom';
  return COMMANDS[kind]({ data: question.data, place, resolve });
}

/** What a user who watches a run reads when it waits: for what, and how to answer. */
export function waitingText(question: AskedQuestion): string {
  const asks = asksText(question);
  const head = `Node ${nodeNameOf(question)} waits for ${waitedFor(question.kind)}`;
  const lines = answerCommands(question).map((line) => `  ${line}`);
  return [visibleText(asks === '' ? `${head}.` : `${head}: ${asks}`), ...lines].join('\n');
}

function waitedFor(kind: string): string {
  if (kind === CHILD) return 'its child run, which waits too';
  return waitingFor(kind)?.waitsFor ?? 'an answer';
}

function questionIds(data: JsonObject): string[] {
  const questions = Array.isArray(data['questions']) ? data['questions'] : [];
  return questions.flatMap((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
  );
}

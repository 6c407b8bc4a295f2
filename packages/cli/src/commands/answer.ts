import { resolve as resolvePath } from 'node:path';
import { type Json, type JsonObject, isJsonObject } from '@weft/protocol/plain';
import { QUESTION_ARGS, answerQuestion } from '../interrupts/answer-question.ts';
import { leaf } from '../parsing/command.ts';
import { unusable, usageError } from '../exit-code.ts';
import { parseValue, readJsonFile } from '../parsing/key-values.ts';

export const answer = leaf({
  name: 'answer',
  summary: 'Answer the questions of a run, by question id',
  examples: [
    'weft answer RUN colour=blue size=4',
    'weft answer RUN details colour="light blue"',
    'weft answer RUN details @answers.json',
  ],
  variadic: true,
  args: QUESTION_ARGS,
  async run({ cli, args }) {
    const [runId = '', ...words] = args._;
    const { node, pairs } = splitWords(words);
    const answers = await readAnswers(pairs, cli.io.cwd);
    return answerQuestion(cli, args, { runId, node, kind: 'clarification', value: { answers } });
  },
});

/** The node comes first or not at all: whatever holds a `=` or begins with `@` is an answer. */
export function splitWords(words: readonly string[]): {
  readonly node: string | undefined;
  readonly pairs: readonly string[];
} {
  const [first] = words;
  const isNamed = first !== undefined && !isAnswer(first);
  const pairs = isNamed ? words.slice(1) : words;
  const odd = pairs.find((word) => !isAnswer(word));
  if (odd !== undefined)
    throw usageError(`An answer is QUESTION=ANSWER or @file, not "${odd}". Example: colour=blue`);
  if (pairs.length === 0)
    throw usageError('weft answer needs an answer. Example: weft answer RUN colour=blue');
  return { node: isNamed ? first : undefined, pairs };
}

/** A value that is JSON is taken as JSON, anything else as text; later ones win over earlier ones. */
export async function readAnswers(pairs: readonly string[], cwd: string): Promise<JsonObject> {
  const entries: [string, Json][] = [];
  for (const pair of pairs) {
    if (pair.startsWith('@')) entries.push(...(await readAnswerFile(resolvePath(cwd, pair.slice(1)))));
    else {
      const equals = pair.indexOf('=');
      entries.push([pair.slice(0, equals), parseValue(pair.slice(equals + 1))]);
    }
  }
  return Object.fromEntries(entries);
}

async function readAnswerFile(path: string): Promise<[string, Json][]> {
  const value = await readJsonFile(path);
  if (!isJsonObject(value))
    throw unusable('bad_input_file', `${path} must hold a JSON object: answers by question id.`);
  return Object.entries(value);
}

function isAnswer(word: string): boolean {
  return word.startsWith('@') || word.indexOf('=') > 0;
}

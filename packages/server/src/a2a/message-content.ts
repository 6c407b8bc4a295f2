import type { Message } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { argumentProblem, type ExposedWorkflow } from '../protocols/exposed-workflows.ts';
import type { AskedQuestion } from '../protocols/question.ts';

/** What a message says: its texts as one, its data laid over each other. */
export interface MessageContent {
  readonly text: string;
  readonly data: JsonObject | undefined;
}

export function contentOf({ parts }: Message): MessageContent {
  if (parts.length === 0) throw new RequestMalformedError('message.parts: must hold at least one part');
  const texts: string[] = [];
  let data: JsonObject | undefined;
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') {
      const value = content.value as Json;
      if (!isJsonObject(value))
        throw new RequestMalformedError('A data part of a message must hold an object.');
      data = { ...data, ...value };
    } else
      throw new ContentTypeNotSupportedError(
        'This agent takes parts with text or data, not files or addresses.',
      );
  }
  return { text: texts.join('\n'), data };
}

/** The inputs of a run: the data, or the text where the workflow takes one. */
export function inputsOf(skill: ExposedWorkflow, { text, data }: MessageContent): JsonObject {
  const textual = skill.variables.filter(({ type }) => type === 'string');
  const [only] = textual;
  if (data === undefined && text !== '' && (textual.length !== 1 || only === undefined)) {
    throw new RequestMalformedError(
      `The skill "${skill.workflowId}" cannot tell what a text is for. Send a data part: ${JSON.stringify(skill.inputSchema)}`,
    );
  }
  const inputs = data ?? (text === '' || only === undefined ? {} : { [only.name]: text });
  const problem = argumentProblem(skill, inputs);
  if (problem !== undefined) throw new RequestMalformedError(problem.replace(/^arguments\./, 'inputs.'));
  return inputs;
}

const DECISIONS: Readonly<Record<string, string>> = {
  accept: 'accept',
  approve: 'accept',
  yes: 'accept',
  reject: 'reject',
  no: 'reject',
};

/** The answer to the question that a run waits for: data as it is, or what a text plainly means. */
export function answerOf({ kind, data: asked }: AskedQuestion, { text, data }: MessageContent): JsonObject {
  if (data !== undefined) return asAnswer(kind, asked, data);
  const said = text.trim();
  const action = kind === 'approval' ? DECISIONS[said.toLowerCase()] : undefined;
  if (action !== undefined) return { action };
  const ids = questionIds(asked);
  const [only] = ids;
  if (kind === 'clarification' && ids.length === 1 && only !== undefined)
    return { answers: { [only]: said } };
  throw new RequestMalformedError(
    kind === 'approval'
      ? 'The run waits for an approval: answer "accept" or "reject", or send its answer as a data part.'
      : `The run waits for an answer of the kind "${kind}": send it as a data part.`,
  );
}

function asAnswer(kind: string, asked: JsonObject, data: JsonObject): JsonObject {
  if (kind === 'approval' && typeof data['approve'] === 'boolean')
    return { action: data['approve'] ? 'accept' : 'reject' };
  const ids = questionIds(asked);
  const [only] = ids;
  const isPlain = kind === 'clarification' && ids.length === 1 && data['answers'] === undefined;
  return isPlain && only !== undefined ? { answers: { [only]: data } } : data;
}

function questionIds({ questions }: JsonObject): string[] {
  return (Array.isArray(questions) ? questions : []).flatMap((each) =>
    isJsonObject(each) && typeof each['id'] === 'string' ? [each['id']] : [],
  );
}

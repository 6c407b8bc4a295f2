import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** What a run waits for, as an assistant and the person before it get to see it. */
export interface AskedQuestion {
  readonly nodeId: string;
  readonly kind: string;
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly expiresAt?: string;
}

/** The first open question of a snapshot. Its token stays behind: who holds it may answer. */
export function questionOf(snapshot: JsonObject): AskedQuestion | undefined {
  const asked = snapshot['interrupt'];
  if (!isJsonObject(asked)) return undefined;
  const { nodeId, iteration, kind, data, resumeSchema, expiresAt } = asked;
  const place = Array.isArray(iteration) ? iteration.map((index) => `[${String(index)}]`).join('') : '';
  return {
    nodeId: `${String(nodeId)}${place}`,
    kind: String(kind),
    data: isJsonObject(data) ? data : {},
    ...(isJsonObject(resumeSchema) && { resumeSchema }),
    ...(typeof expiresAt === 'string' && { expiresAt }),
  };
}

/** A form that every client with elicitation can show: plain fields, one level deep. */
export interface AnswerForm {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<
      string,
      { type: 'string'; title: string; description?: string; enum?: string[] }
    >;
    readonly required: string[];
  };
  /** The answer that the filled-in form stands for. */
  answerOf(content: Readonly<Record<string, unknown>>): Json;
}

/** Undefined where an answer does not fit into such a form: the question is handed on as it is. */
export function formOf({ kind, data, resumeSchema }: AskedQuestion): AnswerForm | undefined {
  if (resumeSchema !== undefined) return undefined;
  const message = messageOf(data);
  switch (kind) {
    case 'approval':
      return {
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            action: { type: 'string', title: 'Decision', enum: plainActions(data) },
            comment: { type: 'string', title: 'Comment' },
          },
          required: ['action'],
        },
        answerOf: ({ action, comment }) => ({
          action: String(action),
          ...(typeof comment === 'string' && comment !== '' && { comment }),
        }),
      };
    case 'clarification':
      return {
        message,
        requestedSchema: {
          type: 'object',
          properties: { answer: { type: 'string', title: 'Answer' } },
          required: ['answer'],
        },
        answerOf: ({ answer }) => ({ answer: String(answer) }),
      };
    default:
      return undefined;
  }
}

/** Those that need nothing but a word; the others are given with `weft_answer`, or elsewhere. */
function plainActions({ actions }: JsonObject): string[] {
  const known = ['accept', 'reject'];
  return Array.isArray(actions) ? known.filter((action) => actions.includes(action)) : known;
}

const MAX_SHOWN = 4_000;

/** All that someone must see to decide. */
function messageOf({ title, description, prompt, question, message, artifactData }: JsonObject): string {
  const texts = [title, description, prompt, question, message].filter(
    (text) => typeof text === 'string' && text !== '',
  );
  const shown =
    artifactData === undefined ? [] : [JSON.stringify(artifactData, undefined, 2).slice(0, MAX_SHOWN)];
  return texts.length + shown.length === 0
    ? 'The workflow asks for an answer.'
    : [...texts, ...shown].join('\n\n');
}

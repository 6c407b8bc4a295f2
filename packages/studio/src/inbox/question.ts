import { isJsonObject, type Json, type JsonObject, waitingFor } from '@weft/protocol/plain';
import type { OpenInterrupt } from '@weft/sdk';
import { type FormField, fieldsOfSchema } from '../form/form-model.ts';
import { controlsShown } from '../ui/shown-text.ts';

/** A question as a form: what is asked, what can be typed, and the buttons that answer it. */
export interface QuestionForm {
  readonly title: string;
  readonly description?: string;
  /** What the decision is about, as the workflow shows it. */
  readonly subject?: Json;
  readonly fields: readonly FormField[];
  readonly actions: readonly QuestionAction[];
}

export interface QuestionAction {
  readonly label: string;
  readonly tone: 'primary' | 'danger' | 'plain';
  /** Needs nothing of what the form asks for. */
  readonly skipsForm?: true;
  /** The answer that the host is sent. */
  answer(typed: Json | undefined): Json;
}

/** What is known of a question from a list as well as from a link. */
export type AskedQuestion = Pick<OpenInterrupt, 'kind' | 'data'> &
  Partial<Pick<OpenInterrupt, 'resumeSchema'>>;

const COMMENT: FormField = {
  path: ['feedback'],
  label: 'Comment',
  kind: 'long-text',
  isRequired: false,
  hint: 'Recorded in the log of the run',
  initial: '',
};

export function questionForm(question: AskedQuestion): QuestionForm {
  const { data } = question;
  const subject = data['artifactData'] ?? data['context'] ?? data['payload'];
  return {
    title: titleOf(question),
    ...(typeof data['description'] === 'string' && { description: controlsShown(data['description']) }),
    ...(subject !== undefined && subject !== null && { subject }),
    ...partsOf(question),
  };
}

function partsOf(question: AskedQuestion): Pick<QuestionForm, 'fields' | 'actions'> {
  switch (question.kind) {
    case 'approval':
      return approvalParts(question.data);
    case 'clarification':
      return clarificationParts(question.data);
    case 'conversation.exchange':
      return {
        fields: [{ path: ['content'], label: 'Your turn', kind: 'long-text', isRequired: true, initial: '' }],
        actions: [
          send('Send'),
          {
            label: 'End the conversation',
            tone: 'plain',
            skipsForm: true,
            answer: () => ({ operation: 'close' }),
          },
        ],
      };
    case 'low-confidence':
      return {
        fields: [],
        actions: [
          { label: 'Confirm', tone: 'primary', answer: () => ({ ratified: true }) },
          { label: 'Reject', tone: 'danger', answer: () => ({ rejected: true }) },
        ],
      };
    case 'external-event':
      return {
        fields: [jsonField('Event', question.data['correlation'])],
        actions: [send('Deliver the event')],
      };
    default:
      return {
        fields:
          question.resumeSchema === undefined
            ? [jsonField('Answer', undefined)]
            : fieldsOfSchema(question.resumeSchema),
        actions: [send('Answer')],
      };
  }
}

const VOTES: Readonly<Record<string, Pick<QuestionAction, 'label' | 'tone'>>> = {
  accept: { label: 'Approve', tone: 'primary' },
  reject: { label: 'Reject', tone: 'danger' },
  refine: { label: 'Ask for changes', tone: 'plain' },
  ask: { label: 'Ask back', tone: 'plain' },
};

/** Answers that need more than a comment (`edit-accept`) are given by other means. */
function approvalParts(data: JsonObject): Pick<QuestionForm, 'fields' | 'actions'> {
  const offered = Array.isArray(data['actions']) ? data['actions'] : ['accept', 'reject'];
  const actions = offered.flatMap((action): QuestionAction[] => {
    const vote = typeof action === 'string' ? VOTES[action] : undefined;
    if (vote === undefined || typeof action !== 'string') return [];
    return [{ ...vote, answer: (typed) => ({ action, ...(isJsonObject(typed) ? typed : {}) }) }];
  });
  return { fields: [COMMENT], actions };
}

function clarificationParts(data: JsonObject): Pick<QuestionForm, 'fields' | 'actions'> {
  const questions = Array.isArray(data['questions']) ? data['questions'].filter(isJsonObject) : [];
  const fields = questions.flatMap((question): FormField[] => {
    const { id, question: text, schema } = question;
    if (typeof id !== 'string') return [];
    const label = typeof text === 'string' ? text : id;
    const inside = isJsonObject(schema) ? fieldsOfSchema(schema) : fieldsOfSchema({ type: 'string' });
    return inside.map((field) => ({
      ...field,
      path: ['answers', id, ...field.path],
      label: field.path.length === 0 ? label : `${label}: ${field.label}`,
      isRequired: true,
    }));
  });
  return { fields, actions: [send('Answer')] };
}

function send(label: string): QuestionAction {
  return { label, tone: 'primary', answer: (typed) => typed ?? null };
}

function jsonField(label: string, known: Json | undefined): FormField {
  const initial = known === undefined ? '' : JSON.stringify(known, null, 2);
  return { path: [], label, kind: 'json', isRequired: true, hint: 'JSON', initial };
}

/** The question in the fewest words: its title, its first question, or the event it waits for. */
export function titleOf({ kind, data }: AskedQuestion): string {
  const questions = Array.isArray(data['questions']) ? data['questions'] : [];
  const first = isJsonObject(questions[0]) ? questions[0]['question'] : undefined;
  const asked = [data['title'], first, data['prompt'], data['eventType'], data['customKind']].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  return asked === undefined
    ? `Waits for ${waitingFor(kind)?.waitsFor ?? 'an answer'}`
    : controlsShown(asked);
}

/** How far the votes are; undefined where the first answer decides. */
export function quorumOf({
  kind,
  data,
  votes,
}: OpenInterrupt): { for: number; against: number; required: number } | undefined {
  const required = data['requiredApprovals'];
  if (kind !== 'approval' || typeof required !== 'number' || required < 2) return undefined;
  const against = votes.filter(({ action }) => action === 'reject').length;
  return { for: votes.length - against, against, required };
}

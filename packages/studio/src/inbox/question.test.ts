import { describe, expect, it } from 'vitest';
import { readForm } from '../form/form-model.ts';
import { questionForm, quorumOf } from './question.ts';

describe('the form of a question', () => {
  it('for an approval has the offered actions and a comment', () => {
    const form = questionForm({
      kind: 'approval',
      data: {
        title: 'An expense',
        actions: ['accept', 'reject', 'edit-accept'],
        artifactData: { amount: 900 },
      },
    });

    expect(form).toMatchObject({ title: 'An expense', subject: { amount: 900 } });
    expect(form.actions.map(({ label }) => label)).toEqual(['Approve', 'Reject']);
    expect(form.actions[1]?.answer({ feedback: 'no receipt' })).toEqual({
      action: 'reject',
      feedback: 'no receipt',
    });
  });

  it('for a clarification asks every question by its schema', () => {
    const form = questionForm({
      kind: 'clarification',
      data: {
        questions: [
          { id: 'colour', question: 'Which colour?' },
          { id: 'size', question: 'How large?', schema: { type: 'integer' } },
        ],
      },
    });
    const { value } = readForm(form.fields, { 'answers.colour': 'blue', 'answers.size': '4' });

    expect(form.title).toBe('Which colour?');
    expect(form.actions[0]?.answer(value)).toEqual({ answers: { colour: 'blue', size: 4 } });
  });

  it('of a kind that is not known is made from its schema, or asks for JSON', () => {
    const known = questionForm({
      kind: 'acme',
      data: {},
      resumeSchema: { properties: { ok: { type: 'boolean' } } },
    });
    const open = questionForm({ kind: 'acme', data: {} });

    expect(known.fields.map(({ kind }) => kind)).toEqual(['boolean']);
    expect(readForm(open.fields, { '': '{"a":1}' }).value).toEqual({ a: 1 });
  });
});

describe('the votes on an approval', () => {
  const question = {
    runId: 'r',
    workflowId: 'w',
    nodeId: 'n',
    interruptId: 'n:0',
    key: 'n:0',
    requestedAt: '',
  };

  it('are counted where several are needed', () => {
    const votes = [
      { voter: 'ada', action: 'accept' },
      { voter: 'bob', action: 'reject' },
    ];
    const asked = { ...question, kind: 'approval', data: { requiredApprovals: 3 }, votes };

    expect(quorumOf(asked)).toEqual({ for: 1, against: 1, required: 3 });
    expect(quorumOf({ ...asked, data: {} })).toBeUndefined();
  });
});

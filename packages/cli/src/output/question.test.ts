import type { OpenInterrupt } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { renderInbox } from './inbox-list.ts';
import { type AskedQuestion, answerCommands, asksText, votesText, waitingText } from './question.ts';
import { PROGRAM } from '../program-name.ts';
import { shellWord } from './shell-word.ts';
import { PLAIN } from './style.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

const APPROVAL: OpenInterrupt = {
  runId: 'r1',
  workflowId: 'expenses',
  nodeId: 'manager',
  interruptId: 'manager:0',
  kind: 'approval',
  key: 'manager:0',
  data: { title: 'Pay 800?', actions: ['accept', 'reject'], requiredApprovals: 3 },
  requestedAt: '2026-01-01T00:00:00.000Z',
  votes: [
    { voter: 'ada', action: 'accept' },
    { voter: 'bob', action: 'reject' },
  ],
};

const CLARIFICATION: AskedQuestion = {
  runId: 'r1',
  nodeId: 'details',
  iteration: [1],
  kind: 'clarification',
  data: {
    questions: [
      { id: 'colour', question: 'Which colour?' },
      { id: 'ship to', question: 'Where to?' },
    ],
  },
};

const EVENT: AskedQuestion = {
  runId: 'r1',
  nodeId: 'payment',
  kind: 'external-event',
  data: { eventType: 'payment.settled', correlation: { orderId: "A'17" } },
};

describe('a question', () => {
  it('is named by its title, its first question, its event or its custom kind', () => {
    expect(asksText(APPROVAL)).toBe('Pay 800?');
    expect(asksText(CLARIFICATION)).toBe('Which colour? (and 1 more)');
    expect(asksText(EVENT)).toBe('payment.settled');
    expect(asksText({ data: { customKind: 'signature' } })).toBe('signature');
    expect(asksText({ data: {} })).toBe('');
  });

  it('counts voices for and against where it needs several', () => {
    expect(votesText(APPROVAL)).toBe('1/3, 1 against');
    expect(votesText({ ...APPROVAL, data: {}, votes: [] })).toBe('0/1');
    expect(votesText({ ...APPROVAL, kind: 'custom' })).toBe('');
  });

  it('comes with the command that answers its kind', () => {
    expect(answerCommands(APPROVAL)).toEqual([
      `${PROGRAM} approve r1 manager`,
      `${PROGRAM} reject r1 manager`,
    ]);
    expect(answerCommands(CLARIFICATION)).toEqual([
      `${PROGRAM} answer r1 'details[1]' colour=ANSWER 'ship to=ANSWER'`,
    ]);
    expect(answerCommands(EVENT)).toEqual([
      String.raw`${PROGRAM} resolve r1 payment --value '{"orderId":"A'\''17"}'`,
    ]);
    expect(answerCommands({ ...EVENT, kind: 'custom' })).toEqual([
      `${PROGRAM} resolve r1 payment --value @answer.json`,
    ]);
  });

  it('cannot smuggle anything into the shell or the terminal', () => {
    expect(shellWord('a; rm -rf b')).toBe("'a; rm -rf b'");
    expect(shellWord('$(x)')).toBe("'$(x)'");
    expect(waitingText({ ...APPROVAL, data: { title: 'a\u001B[2Jb\nc' } }).split('\n')[0]).toBe(
      String.raw`Node manager waits for an approval: a\u001b[2Jb\u000ac`,
    );
  });

  it('cannot become a flag of the command that answers it', () => {
    const named = { ...APPROVAL, nodeId: '--url=http://evil.example' };

    expect(answerCommands(named)).toEqual([
      `${PROGRAM} approve -- r1 --url=http://evil.example`,
      `${PROGRAM} reject -- r1 --url=http://evil.example`,
    ]);
    expect(answerCommands({ ...named, kind: 'custom' })).toEqual([
      `${PROGRAM} resolve --value @answer.json -- r1 --url=http://evil.example`,
    ]);
  });

  it('is shown with its commands on lines of their own', () => {
    expect(waitingText(APPROVAL)).toBe(
      `Node manager waits for an approval: Pay 800?\n  ${PROGRAM} approve r1 manager\n  ${PROGRAM} reject r1 manager`,
    );
  });
});

describe('the inbox', () => {
  it('shows what is asked, how many agreed, since when and until when', () => {
    const event = { ...APPROVAL, ...EVENT, workflowId: 'orders', votes: [] };
    const due = { ...APPROVAL, expiresAt: '2026-01-01T01:00:05.000Z' };

    const text = renderInbox(PLAIN, [due, event], T0 + 5000);

    expect(text.split('\n')).toEqual([
      'RUN  WORKFLOW  NODE     KIND            ASKS             VOTES           SINCE    UNTIL',
      'r1   expenses  manager  approval        Pay 800?         1/3, 1 against  5 s ago  in 1 h',
      'r1   orders    payment  external-event  payment.settled                  5 s ago',
    ]);
  });

  it('cuts a long question', () => {
    const long = { ...APPROVAL, data: { title: 'x'.repeat(200) } };

    expect(renderInbox(PLAIN, [long], T0)).toContain(`${'x'.repeat(59)}…`);
  });
});

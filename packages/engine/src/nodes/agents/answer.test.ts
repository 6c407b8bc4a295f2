import { expect, it } from 'vitest';
import { answerRules, readAnswer } from './answer.ts';

const rules = answerRules({}, () => []);
const said = (text: string) => readAnswer({ text, finishReason: 'stop', number: 1 }, rules);

it.each(['```json\n{"a":1}\n```', ' ```\n{"a":1}```\n', '```json \r\n{"a":1}\r\n```'])(
  'an answer may stand between fences: %j',
  (text) => {
    expect(said(text)).toEqual({ type: 'answer', value: { a: 1 }, isFenced: true });
  },
);

it('an answer of fences and nothing else is read in one pass', () => {
  for (const filling of ['\n', ' ', '```', '```\n', '``` \n', '```json'])
    expect(said(`\`\`\`\n${filling.repeat(200_000)}`)).toMatchObject({ type: 'misfit' });
});

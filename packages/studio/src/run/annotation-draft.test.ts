import { expect, it } from 'vitest';
import { blankDraft, toAnnotation } from './annotation-draft.ts';

it.each([
  [
    { rating: '2', nodeId: 'draft' },
    { signal: { kind: 'rating', rating: 2 }, target: { nodeId: 'draft' } },
  ],
  [{ kind: 'label', text: ' odd ' }, { signal: { kind: 'label', label: 'odd' } }],
  [{ kind: 'correction', text: 'blue' }, { signal: { kind: 'correction', correction: 'blue' } }],
  [
    { kind: 'flag', text: 'left over', note: ' why ' },
    { signal: { kind: 'flag' }, note: 'why' },
  ],
  [{ kind: 'label', text: ' ' }, 'Label is needed.'],
] as const)('an annotation of %j is sent as %j', (typed, sent) => {
  expect(toAnnotation({ ...blankDraft, ...typed })).toEqual(sent);
});

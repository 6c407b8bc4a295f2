import { type KnownTexts, type Masking, markOf } from './redaction.ts';
import { type Finder, merged, type OpenSpans } from './scan/literal-search.ts';
import { MASK } from './scan/marks.ts';

/** The texts of a run that must not be shown, as others look for them: each is found with the mark that is to stand in its place. */
export function markedTexts(known: KnownTexts, masking: Masking): Finder<string> {
  const { search } = known;
  const isOff = masking.mode === 'passthrough';
  /** Where there are too many to look for, everything is one. */
  const everything = (text: string): OpenSpans<string> => ({
    spans: text === '' ? [] : [{ start: 0, end: text.length, tag: MASK }],
    openFrom: text.length,
  });
  const marked = ({ spans, ...rest }: OpenSpans<string>): OpenSpans<string> => ({
    spans: spans.map(({ start, end, tag }) => ({ start, end, tag: markOf(tag, masking) })),
    ...rest,
  });
  return {
    get size() {
      if (isOff) return 0;
      return known.isOverflowing ? 1 : search.size;
    },
    tagOf(text) {
      const tag = isOff ? undefined : search.tagOf(text);
      return tag === undefined ? undefined : markOf(tag, masking);
    },
    find(text, work, allowance) {
      if (isOff) return [];
      return known.isOverflowing
        ? everything(text).spans
        : marked({ spans: search.find(text, work, allowance), openFrom: text.length }).spans;
    },
    findOpen(text, before, work) {
      if (isOff) return { spans: [], openFrom: text.length };
      return known.isOverflowing ? everything(text) : marked(search.findOpen(text, before, work));
    },
  };
}

/** What either of them finds. */
export function joined(first: Finder<string>, second: Finder<string>): Finder<string> {
  return {
    get size() {
      return first.size + second.size;
    },
    tagOf: (text) => first.tagOf(text) ?? second.tagOf(text),
    find: (...asked) => merged([...first.find(...asked), ...second.find(...asked)]),
    findOpen(text, before, work) {
      const [one, other] = [first.findOpen(text, before, work), second.findOpen(text, before, work)];
      return {
        spans: merged([...one.spans, ...other.spans]),
        openFrom: Math.min(one.openFrom, other.openFrom),
        ...((one.isGivenUp === true || other.isGivenUp === true) && { isGivenUp: true }),
      };
    },
  };
}

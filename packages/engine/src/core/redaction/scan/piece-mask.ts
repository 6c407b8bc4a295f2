import { IN, isIn } from './alphabets.ts';
import { type Finder, type LiteralSpan, MAX_SPELLING } from './literal-search.ts';
import type { Work } from './work.ts';

/** Masks one text that comes in several pieces. */
export interface PieceMask {
  /** What may be shown by now; after the last piece, everything. */
  next(piece: string, isLast: boolean): string;
}

/**
 * What could be the beginning of a value, or of one in another encoding, is held back until it is known.
 * However a text is cut, all its shown pieces together are what would be shown of the whole.
 * The held text is not scanned again for every small piece, only when at least a quarter as much has arrived. So the
 *      work grows with the text, whatever the size of the pieces.
 */
export function createPieceMask<Tag>(
  search: Finder<Tag>,
  markOf: (tag: Tag) => string,
  work?: Work,
): PieceMask {
  let held = '';
  let before = '';
  let fresh = 0;
  let patience = 0;
  /** How much of what is held a mark stands for that was shown already. */
  let covered: { readonly tag: Tag; readonly until: number } | undefined;
  /** The search was given up: nothing more is shown. */
  let isGivenUp = false;

  function settle(spans: readonly LiteralSpan<Tag>[], end: number): string {
    let shown = '';
    let from = covered?.until ?? 0;
    for (const { start, end: to, tag } of spans) {
      if (start >= end) break;
      const continues =
        covered !== undefined && (start < covered.until || (start === covered.until && tag === covered.tag));
      if (!continues) shown += held.slice(from, start) + markOf(tag);
      covered = { tag: continues && covered !== undefined ? covered.tag : tag, until: Math.max(from, to) };
      from = covered.until;
    }
    if (from < end) {
      shown += held.slice(from, end);
      covered = undefined;
    } else if (covered !== undefined) covered = { tag: covered.tag, until: from - end };
    if (end > 0) before = held.charAt(end - 1);
    held = held.slice(end);
    return shown;
  }

  return {
    next(piece, isLast) {
      if (isGivenUp) return '';
      if (search.size === 0 && held === '') return piece;
      held += piece;
      fresh += piece.length;
      if (!isLast && fresh < patience) return '';
      fresh = 0;
      const { spans, openFrom, ...found } = search.findOpen(held, before, work);
      isGivenUp = found.isGivenUp === true && !isLast;
      if (isGivenUp) return settle(spans, held.length);
      const shown = settle(spans, isLast ? held.length : Math.min(openFrom, tailRun(held)));
      patience = held.length >> 2;
      return shown;
    },
  };
}

/** Where the run of characters begins with which the text ends, and in which a value may be spelled. */
function tailRun(text: string): number {
  const earliest = Math.max(0, text.length - MAX_SPELLING);
  let start = text.length;
  while (start > earliest && isIn(IN.spelling, text.charCodeAt(start - 1))) start -= 1;
  return start;
}

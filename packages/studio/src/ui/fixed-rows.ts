import { type RefCallback, useCallback, useState } from 'react';

/** Of a long list: which rows are in sight, or nearly. */
export interface FixedRows {
  /** For the element that scrolls. */
  readonly scroller: RefCallback<HTMLElement>;
  /** Of all rows. */
  readonly height: number;
  /** Places of the rows to draw. */
  readonly places: readonly number[];
}

const BEYOND = 12;

/**
 * Rows of one height, of which only those in sight are drawn. The work depends on what is seen and not on how many there are: the log of a live run
 * changes its length ten times a second, and libraries that measure rows look at each of them then.
 */
export function useFixedRows(count: number, rowHeight: number): FixedRows {
  const [seen, setSeen] = useState({ first: 0, rows: 0 });
  const scroller = useCallback(
    (element: HTMLElement | null) => {
      if (element === null) return;
      const look = (): void => {
        const first = Math.floor(element.scrollTop / rowHeight);
        const rows = Math.ceil(element.clientHeight / rowHeight) + 1;
        setSeen((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
      };
      const sizes = new ResizeObserver(look);
      sizes.observe(element);
      element.addEventListener('scroll', look, { passive: true });
      look();
      return () => {
        sizes.disconnect();
        element.removeEventListener('scroll', look);
      };
    },
    [rowHeight],
  );
  const from = Math.max(0, Math.min(seen.first, count - seen.rows) - BEYOND);
  const until = Math.min(count, seen.first + seen.rows + BEYOND);
  return {
    scroller,
    height: count * rowHeight,
    places: Array.from({ length: Math.max(0, until - from) }, (_, index) => from + index),
  };
}

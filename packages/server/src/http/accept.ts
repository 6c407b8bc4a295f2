/** True when the Accept header takes JSON and does not take an event stream: only then a stream is answered as JSON. */
export function wantsJson(accept: string | undefined): boolean {
  // What nearly every reader of a stream sends.
  if (accept === undefined || accept === 'text/event-stream') return false;
  const ranges = accept.toLowerCase().split(',').map(parseRange);
  return takes(ranges, 'application', 'json') && !takes(ranges, 'text', 'event-stream');
}

/** True for what a browser sends when a page is opened: HTML by name, not as one of anything. */
export function asksForHtml(accept: string | undefined): boolean {
  return (accept ?? '')
    .toLowerCase()
    .split(',')
    .map(parseRange)
    .some(({ type, subtype, quality }) => type === 'text' && subtype === 'html' && quality > 0);
}

interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

function parseRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = ''] = range.split('/');
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, subtype, quality: q === undefined ? 1 : Number(q.slice(2)) };
}

/** The most specific range that fits decides. */
function takes(ranges: readonly MediaRange[], type: string, subtype: string): boolean {
  const fitting = ranges
    .filter(
      (range) =>
        (range.type === '*' || range.type === type) && (range.subtype === '*' || range.subtype === subtype),
    )
    .sort((a, b) => specificity(b) - specificity(a));
  return (fitting[0]?.quality ?? 0) > 0;
}

function specificity(range: MediaRange): number {
  if (range.type === '*') return 0;
  return range.subtype === '*' ? 1 : 2;
}

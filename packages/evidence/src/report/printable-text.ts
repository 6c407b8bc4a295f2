/** What drives a terminal, takes no room or turns the direction of text; and what ends a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from evidence as it can stand in a line of a report: what cannot be seen is shown by its number. */
export function printableText(text: string): string {
  return text.replace(UNPRINTABLE, (found) =>
    Array.from({ length: found.length }, (_, index) => escaped(found.charCodeAt(index))).join(''),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

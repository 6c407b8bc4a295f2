/**
 * What ids, names, tags, versions, principals, tenants, codes and keys may not hold: control characters (C0, DEL, C1), the
 * bidirectional controls that show text in another order than it is stored in, and halves of surrogate pairs. A store that cuts
 * at NUL, or replaces what is not UTF-8, would take two such names for one; a terminal obeys some, and people misread the others.
 * Text that only people read (messages, prompts, descriptions) and payloads may hold anything that JSON can.
 */
const REFUSED = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/u;

/** The format of names in our schemas. */
export const NAME_FORMAT = 'name';

export function isName(text: string): boolean {
  return !REFUSED.test(text);
}

/** What is wrong with a text as a name, to stand behind the name of its field; undefined when nothing is. */
export function nameProblem(text: string): string | undefined {
  const found = REFUSED.exec(text)?.[0].codePointAt(0);
  if (found === undefined) return undefined;
  const kind = found >= 0xd800 && found <= 0xdfff ? 'half of a surrogate pair' : 'the control character';
  return `must not hold ${kind} U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A text from outside as it can stand in a message: what names may not hold is shown by its number. */
export function shownName(text: string): string {
  return text.replace(ALL_REFUSED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const ALL_REFUSED = new RegExp(REFUSED, 'gu');

import { randomBytes } from 'node:crypto';

/**
 * Everything that is written for people goes through here, because most of it was said by others: runs, workflows, hosts, files.
 *
 * T-5. Characters that could drive a terminal, or show text in another order than it has, are shown by their number
 *      (`\u001b`): control characters, marks of direction, everything else that takes no room, line and paragraph
 *      separators, halves of surrogate pairs. The same applies in JSON, whose meaning this does not change.
 * T-6. Our own colours and cursor moves are signed with a value that cannot be guessed from outside, and lose the sign on
 *      the way out.
 * T-7. Text of others stays on its line where it stands next to ours: a line break in it could pass for an answer of ours.
 */
const SIGN = `\u001B{${randomBytes(12).toString('hex')}}`;

const OURS = String.raw`\u001B\{${SIGN.slice(2, -1)}\}(\[\d*[A-Za-z])`;
const UNSAFE = String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]`;
const OURS_OR_UNSAFE = new RegExp(`${OURS}|${UNSAFE}`, 'gu');
const ONE_OF_OURS = new RegExp(`(${OURS.replace('(', '(?:')})`);

/** A control sequence of ours, such as `[31m`. */
export function control(sequence: string): string {
  return SIGN + sequence;
}

/** Text of others as it can stand in a line of ours (T-7). What we have signed stays. */
export function visibleText(text: string): string {
  return text.replace(OURS_OR_UNSAFE, (found, ours: string | undefined) => {
    if (ours !== undefined) return found;
    return found === '\t' ? ' ' : escaped(found);
  });
}

/** A template whose values are text of others, such as `${runId}  ${status}`. */
export function shown(texts: TemplateStringsArray, ...values: readonly unknown[]): string {
  return texts.reduce((text, piece, index) => text + visibleText(String(values[index - 1])) + piece);
}

/** As a terminal may see it (T-5, T-6). Lines stay lines. */
export function terminalText(text: string): string {
  return text.replace(OURS_OR_UNSAFE, (found, ours: string | undefined) => {
    if (ours !== undefined) return `\u001B${ours}`;
    if (found === '\n') return found;
    return found === '\t' ? ' ' : escaped(found);
  });
}

/** The text, cut where our own control sequences stand; every second piece is one. */
export function splitAtControls(text: string): string[] {
  return text.split(ONE_OF_OURS);
}

export function isControl(piece: string): boolean {
  return piece.startsWith(SIGN);
}

/** By UTF-16 units, as JSON has it. */
function escaped(found: string): string {
  let text = '';
  for (let index = 0; index < found.length; index += 1)
    text += `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`;
  return text;
}

import { describe, expect, it } from 'vitest';
import { shielded } from '../io.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { COLOURED } from './style.ts';
import { control, shown, terminalText, visibleText } from './terminal-text.ts';

const every = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)).join('');

describe('text on its way to a terminal', () => {
  it('holds no control character but line breaks, and no colour that is not ours (T-5, T-6)', () => {
    const text = terminalText(
      `${every(0, 0x1f)}${every(0x7f, 0x9f)}|${COLOURED.red('ours')}|\u001B[31mtheirs`,
    );

    expect(text.replaceAll('\u001B[31mours\u001B[39m', 'ours')).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).toContain('|\u001B[31mours\u001B[39m|\\u001b[31mtheirs');
    expect(text.split('\n')).toHaveLength(2);
  });

  it.each([
    ['an operating system command', '\u001B]8;;http://evil\u0007link\u001B]8;;\u0007'],
    ['one that begins with C1', '\u009D0;title\u009C'],
    ['turned text', 'user\u202Egnp.exe'],
    ['isolates', '\u2066\u2067\u2068\u2069'],
    ['what takes no room', 'a\u200Bb\u2060c\uFEFFd\u00ADe'],
    ['separators', 'a\u2028b\u2029c'],
    ['tags', '\u{E0041}\u{E007F}'],
    ['half of a pair', 'a\uD800b'],
  ])('shows %s by its numbers', (_, text) => {
    for (const seen of [terminalText(text), visibleText(text), COLOURED.dim(text)])
      expect(terminalText(seen)).toMatch(/^(?:\u001B\[2?2m|[\x20-\x7e])*$/);
  });

  it('stays JSON that means the same', () => {
    const value = { 'a\u009B': 'b\u007F\u202E\u{E0041}\uD800 \n\t\u0000 😀 é' };

    expect(JSON.parse(terminalText(JSON.stringify(value)))).toEqual(value);
  });

  it('keeps every other text as it is', () => {
    const text = 'Bestellung 😀 №7 — «ок» שלום 漢字 e\u0301';

    expect([terminalText(text), visibleText(text)]).toEqual([text, text]);
  });

  it('cannot be forged by an author who has seen the mark before', () => {
    const io = recordedIo({ cwd: '/nowhere', isTTY: true });
    shielded(io).stdout.write(COLOURED.red('seen'));

    expect(terminalText(`${io.out()}x`)).not.toContain('\u001B');
    expect(terminalText('\u001B{0}[31mx')).toBe('\\u001b{0}[31mx');
    expect(terminalText(`${control('[31m')}x`)).toBe('\u001B[31mx');
  });
});

describe('text of others in a line of ours', () => {
  it('does not begin another line (T-7)', () => {
    expect(shown`${'R'}  ${'a\nRun completed\r\n\u2028b'}\n`).toBe(
      'R  a\\u000aRun completed\\u000d\\u000a\\u2028b\n',
    );
    expect(visibleText('a\tb')).toBe('a b');
  });
});

describe('a document for programs', () => {
  it('is written to the byte, except to a terminal', () => {
    const [piped, seen] = [recordedIo({ cwd: '/' }), recordedIo({ cwd: '/', isTTY: true })];
    const text = '{"a":"\u009B\u202E"}';

    shielded(piped).stdout.document(text);
    shielded(seen).stdout.document(text);

    expect(piped.out()).toBe(text);
    expect(seen.out()).toBe('{"a":"\\u009b\\u202e"}');
  });
});

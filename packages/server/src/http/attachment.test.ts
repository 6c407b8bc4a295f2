import { describe, expect, it } from 'vitest';
import { attachment } from './attachment.ts';

const namedBy = (header: string): string =>
  decodeURIComponent(/filename\*=UTF-8''([^;]*)$/.exec(header)?.[1] ?? '');

describe('the name of an attachment', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['Bericht ü 😀.txt', 'Bericht ü 😀.txt'],
    ['../../.ssh/authorized_keys', 'authorized_keys'],
    ['/etc/passwd', 'passwd'],
    ['..\\..\\Startup\\x.bat', 'x.bat'],
    ['C:\\evil.exe', 'evil.exe'],
    ['C:evil.exe', 'C_evil.exe'],
    ['file.txt:stream', 'file.txt_stream'],
    ['.bashrc', '_bashrc'],
    ['..', '_'],
    ['../', 'artifact'],
    ['', 'artifact'],
    ['-rf', '_rf'],
    ['--output=x', '_output=x'],
    ['~/x', 'x'],
    ['nul', '_nul'],
    ['COM1.txt', '_COM1.txt'],
    ['a. . ', 'a'],
    ['a\u0000b\u001b\u202ec', 'a_b__c'],
    ['a\r\nX-Evil: 1', 'a__X-Evil_ 1'],
    ['a"; filename="b', 'a_; filename=_b'],
    ['a\ud800b', 'a_b'],
    [`${'x'.repeat(400)}.txt`, `${'x'.repeat(146)}.txt`],
  ])('of %j is that of a file, not of a place: %j', (name, expected) => {
    const header = attachment(name);

    expect(namedBy(header)).toBe(expected);
    expect(header).toMatch(
      /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]+"; filename\*=UTF-8''[\w.~!#$&+^`|%-]+$/,
    );
  });
});

/** Characters that change how other text is shown (directions, controls) are written as their codes: what one reads is what is there. */
export function controlsShown(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- these are what is looked for
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value in one line of at most this many characters. */
export function oneLine(value: unknown, width: number): string {
  const text = controlsShown(typeof value === 'string' ? value.slice(0, width + 1) : jsonStart(value, width));
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function jsonStart(value: unknown, width: number): string {
  return (JSON.stringify(value) ?? '').slice(0, width + 1);
}

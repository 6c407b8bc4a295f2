/**
 * Finds the line on which the value of a JSON Pointer begins, so that a problem in a definition can be shown the way an
 * editor counts. Works on text that is known to be JSON; a pointer to something that is not there gives the line of its
 * nearest parent.
 */
export function lineOfPointer(text: string, pointer: string): number {
  const wanted = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const offset = locate(text, wanted);
  let line = 1;
  for (let at = 0; at < offset; at += 1) if (text.charCodeAt(at) === 10) line += 1;
  return line;
}

function locate(text: string, wanted: readonly string[]): number {
  let at = skipSpace(text, 0);
  for (const part of wanted) {
    const next =
      text[at] === '{' ? memberOf(text, at, part) : text[at] === '[' ? elementOf(text, at, part) : undefined;
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

function memberOf(text: string, start: number, name: string): number | undefined {
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const end = stringEnd(text, at);
    const key: unknown = JSON.parse(text.slice(at, end));
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (key === name) return value;
    at = skipSpace(text, valueEnd(text, value));
    if (text[at] !== ',') return undefined;
    at = skipSpace(text, at + 1);
  }
  return undefined;
}

function elementOf(text: string, start: number, index: string): number | undefined {
  let at = skipSpace(text, start + 1);
  for (let left = Number(index); text[at] !== ']'; left -= 1) {
    if (left === 0) return at;
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] !== ',') return undefined;
    at = skipSpace(text, at + 1);
  }
  return undefined;
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at) - 1;
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    if (depth < 0) return at;
    if (depth > 0) continue;
    if (character === '}' || character === ']') return at + 1;
    if (character === ',') return at;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}

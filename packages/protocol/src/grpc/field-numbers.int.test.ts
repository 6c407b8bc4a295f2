import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FIELD_NUMBERS } from './field-numbers.ts';
import { type FieldShape, grpcService } from './message-shapes.ts';

/** One line per field that was ever published: message, field, number, type. */
const published = readFileSync(new URL('testing/published-fields.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '');

function lineOf(message: string, field: FieldShape): string {
  const type = field.kind === 'message' ? field.message : field.kind;
  return `${message}.${field.name} = ${field.number} ${field.isRepeated ? 'repeated ' : ''}${type}`;
}

const current = [...grpcService().messages.values()].flatMap(({ name, fields, extras }) =>
  (extras === undefined ? fields : [...fields, extras]).map((field) => lineOf(name, field)),
);

describe('a field that was published', () => {
  it('keeps its number and its type for ever', () => {
    const now = new Map(current.map((line) => [line.slice(0, line.indexOf(' ')), line]));

    const moved = published.filter((line) => {
      const field = line.slice(0, line.indexOf(' '));
      return now.has(field) && now.get(field) !== line;
    });

    expect(moved).toEqual([]);
  });

  it('keeps its number reserved when it is gone', () => {
    const numbered = published.filter((line) => !line.includes('.additional_properties '));

    for (const line of numbered) {
      const [, message = '', field = '', number] = /^(\w+)\.(\w+) = (\d+)/.exec(line) ?? [];
      expect([line, FIELD_NUMBERS[message]?.[field]]).toEqual([line, Number(number)]);
    }
  });

  it('is on the list: append the lines that are missing to testing/published-fields.txt', () => {
    expect(current.filter((line) => !published.includes(line))).toEqual([]);
  });
});

describe('the table of field numbers', () => {
  it('has no message that there is not, and no number twice in one', () => {
    const { messages } = grpcService();

    for (const [message, numbers] of Object.entries(FIELD_NUMBERS)) {
      expect([message, messages.has(message)]).toEqual([message, true]);
      expect(new Set(Object.values(numbers)).size).toBe(Object.keys(numbers).length);
    }
  });
});

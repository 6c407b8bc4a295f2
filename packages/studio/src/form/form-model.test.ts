import { describe, expect, it } from 'vitest';
import { changedMembers, fieldsOfSchema, fieldsOfVariables, initialValues, readForm } from './form-model.ts';

const schema = {
  type: 'object',
  required: ['city', 'count'],
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to' },
    count: { type: 'integer', default: 2 },
    express: { type: 'boolean' },
    speed: { enum: ['slow', 'fast', 3] },
    note: { type: 'string', maxLength: 5_000 },
    contact: { type: 'object', required: ['mail'], properties: { mail: { type: 'string' } } },
    rest: { type: 'array' },
  },
};

describe('a form made from a schema', () => {
  it('has a field for every member, opened objects included', () => {
    const fields = fieldsOfSchema(schema);

    expect(fields.map(({ path, kind, isRequired }) => [path.join('.'), kind, isRequired])).toEqual([
      ['city', 'text', true],
      ['count', 'number', true],
      ['express', 'boolean', false],
      ['speed', 'choice', false],
      ['note', 'long-text', false],
      ['contact.mail', 'text', false],
      ['rest', 'json', false],
    ]);
    expect(fields[0]).toMatchObject({ label: 'City', hint: 'Where to' });
    expect(initialValues(fields)['count']).toBe('2');
  });

  it('gives the value that was typed, without what was left empty', () => {
    const fields = fieldsOfSchema(schema);
    const typed = {
      city: 'Graz',
      count: '3',
      express: 'true',
      speed: '"fast"',
      'contact.mail': 'a@b',
      rest: '',
    };

    expect(readForm(fields, typed)).toEqual({
      value: { city: 'Graz', count: 3, express: true, speed: 'fast', contact: { mail: 'a@b' } },
      problems: {},
    });
  });

  it('says what is wrong, by field', () => {
    expect(readForm(fieldsOfSchema(schema), { count: 'many', rest: '[1' }).problems).toEqual({
      city: 'City is needed.',
      count: 'count must be a number.',
      rest: expect.stringMatching(/^rest must be JSON, .* in line 1, character 3: /),
    });
    expect(readForm(fieldsOfSchema(schema), { rest: '\n{"a": 1,\n  b: 2}' }).problems['rest']).toContain(
      ' in line 3, character 3: ',
    );
  });

  it('is one field where there are no members, and may ask for names that every object has', () => {
    expect(readForm(fieldsOfSchema({ type: 'string' }), { '': 'yes' }).value).toBe('yes');
    const odd = fieldsOfSchema(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'));
    expect(JSON.stringify(readForm(odd, { ['__proto__']: 'x' }).value)).toBe('{"__proto__":"x"}');
  });

  it('stays small, however large the schema is', () => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, {}]));

    expect(fieldsOfSchema({ properties })).toHaveLength(200);
  });
});

describe('a form made from variables', () => {
  it('begins with what is known, then with the defaults', () => {
    const fields = fieldsOfVariables(
      [
        { name: 'amount', type: 'number', defaultValue: 10 },
        { name: 'who', type: 'string', required: true },
        { name: 'key', type: 'string', sensitive: true },
      ],
      { amount: 900 },
    );

    expect(initialValues(fields)).toEqual({ amount: '900', who: '', key: '' });
    expect(fields.map(({ isRequired, isSecret = false }) => [isRequired, isSecret])).toEqual([
      [false, false],
      [true, false],
      [false, true],
    ]);
  });

  it('tells a fork only what changed', () => {
    expect(changedMembers({ a: 1, b: { c: 1 } }, { a: 2, b: { c: 1 }, d: 3 })).toEqual({ a: 2, d: 3 });
  });
});

import { describe, expect, it } from 'vitest';
import { credentialsInDefinition } from './definition-credentials.ts';
import { CREDENTIAL_EXAMPLES } from '../redaction/scan/testing/credential-examples.ts';
import { finish } from '../json/cooperative-task.ts';

describe('credentials in a definition', () => {
  it.each(Object.entries(CREDENTIAL_EXAMPLES))('are found: %s', (kind, { text, near }) => {
    const found = finish(credentialsInDefinition({ nodes: [{ config: { note: `see ${text}` } }] }));

    expect(found).toMatchObject([{ path: '/nodes/0/config/note', code: 'credential_in_definition' }]);
    expect(found[0]?.message).toContain(kind);
    expect(finish(credentialsInDefinition({ note: near, [near]: [near] }))).toEqual([]);
  });

  it('are found wherever they stand in a long text, and others get their turn meanwhile', () => {
    const { text } = CREDENTIAL_EXAMPLES['GitHub token'] ?? { text: '' };
    for (const at of [0, 60_000, 65_530, 130_000, 299_000]) {
      const long = `${'word '.repeat(at / 5)}${text} ${'word '.repeat((300_000 - at) / 5)}`;
      let turns = 0;
      const steps = credentialsInDefinition({ long: [long] });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) turns += 1;

      expect(step.value.map(({ path }) => path)).toEqual(['/long/0']);
      if (at > 200_000) expect(turns).toBeGreaterThanOrEqual(3);
    }
  });

  it('are looked for in turns, however many short values there are', () => {
    for (const value of [1, {}, [], 'a']) {
      const steps = credentialsInDefinition({ list: Array.from({ length: 20_000 }, () => value) });
      let turns = 0;
      while (steps.next().done !== true) turns += 1;

      expect(turns, JSON.stringify(value)).toBeGreaterThan(5);
    }
  });
});

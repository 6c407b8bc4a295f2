import { describe, expect, it } from 'vitest';
import { cancel } from '../commands/runs/cancel.ts';
import { revoke } from '../commands/keys/revoke.ts';
import { serve } from '../commands/serve.ts';
import { checkFlags } from './flags.ts';

describe('checkFlags', () => {
  it('keeps every value of a repeated flag, in order', () => {
    const { values } = checkFlags('weft serve', serve, ['--workflows', 'a', '--workflows=b', '--port', '1']);

    expect(values.get('workflows')).toEqual(['a', 'b']);
    expect(values.get('port')).toEqual(['1']);
  });

  it('takes an id that begins with a dash for an id', () => {
    const one = checkFlags('weft keys revoke', revoke, ['-bJTh02tGYz0o21Avj-CDg', '--json']);
    const two = checkFlags('weft keys revoke', revoke, ['--JTh02tGYz0o21Avj-CDg']);

    expect(one).toMatchObject({ rawArgs: ['--json', '--', '-bJTh02tGYz0o21Avj-CDg'], json: true });
    expect(two.rawArgs).toEqual(['--', '--JTh02tGYz0o21Avj-CDg']);
  });

  it('still finds typing errors in commands that take ids', () => {
    expect(() => checkFlags('weft runs cancel', cancel, ['r1', '--resaon', 'x'])).toThrow(
      'Did you mean --reason?',
    );
  });
});

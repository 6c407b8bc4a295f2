import { newRunId } from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { runIdBytes, runIdText } from './codec.ts';

describe('a run id', () => {
  it('comes back from its bytes as it was', () => {
    const ids = [newRunId(), newRunId(0), '01234567-89ab-cdef-0123-456789abcdef'];

    expect(ids.map((id) => runIdText(runIdBytes(id) ?? new Uint8Array()))).toEqual(ids);
  });

  it.each([
    '',
    '01234567-89ab-cdef-0123-456789abcde',
    '01234567-89ab-cdef-0123-456789abcdef0',
    '01234567-89AB-cdef-0123-456789abcdef',
    '01234567-89ag-cdef-0123-456789abcdef',
    '01234567-89a/-cdef-0123-456789abcdef',
    '01234567089ab-cdef-0123-456789abcdef',
    '0123456-789ab-cdef-0123-456789abcdef',
    '٠1234567-89ab-cdef-0123-456789abcdef',
  ])('is not %j', (text) => {
    expect(runIdBytes(text)).toBeUndefined();
  });
});

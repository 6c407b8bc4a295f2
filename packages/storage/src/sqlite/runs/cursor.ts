import { HostError } from '@weft/protocol';

/** A place in a list: the numbers by which its last row is sorted. Opaque to clients. */
export function encodeCursor(place: readonly number[]): string {
  return Buffer.from(place.join(',')).toString('base64url');
}

export function decodeCursor(cursor: string, length: number): number[] {
  const place = Buffer.from(cursor, 'base64url').toString().split(',').map(Number);
  if (place.length === length && place.every(Number.isSafeInteger)) return place;
  throw new HostError('validation_error', 'cursor is not one this host gave; start again without it.', {
    field: 'cursor',
  });
}

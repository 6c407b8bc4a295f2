import { satisfies, validRange } from 'semver';
import { checkPackName } from '../manifest/pack-name.ts';
import { PackError } from '../pack-error.ts';

/** A pack that is asked for by name. */
export interface WantedPack {
  readonly name: string;
  /** A version, or a range of them. */
  readonly range: string;
}

/** Of `NAME` or `NAME@RANGE`; undefined when it names a file. Throws PackError. */
export function wantedPack(text: string): WantedPack | undefined {
  if (!/^(core|vendor|community|private|local)\./.test(text) || text.endsWith('.tgz')) return undefined;
  const [name = '', range = '*'] = text.split(/@(.*)/s);
  checkPackName(name);
  if (validRange(range) === null)
    throw new PackError(
      'invalid_version',
      `${JSON.stringify(range)} is no range of versions, such as ^1.2.0.`,
    );
  return { name, range };
}

export function isWanted(
  { name, range }: WantedPack,
  pack: { readonly name: string; readonly version: string },
): boolean {
  return pack.name === name && satisfies(pack.version, range);
}

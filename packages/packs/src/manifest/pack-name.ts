import { valid } from 'semver';
import { PackError } from '../pack-error.ts';

const NAME = /^(core|vendor|community|private)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/;
const LONGEST_NAME = 256;

/** Throws `invalid_pack_scope` or `invalid_pack_name`. */
export function checkPackName(name: string): void {
  const scope = name.split('.', 1)[0];
  if (scope === 'local')
    throw new PackError(
      'invalid_pack_scope',
      `${shown(name)}: local.* is for files in a host's folder and is never packed. Use vendor., community. or private.`,
    );
  if (scope === 'core')
    throw new PackError(
      'invalid_pack_scope',
      `${shown(name)}: core.* belongs to the protocol. Use vendor., community. or private.`,
    );
  if (!NAME.test(name) || name.length > LONGEST_NAME)
    throw new PackError(
      'invalid_pack_name',
      `${shown(name)} is no name of a pack. It has three parts or more, in lower case, such as vendor.acme.payments; the first is vendor, community or private.`,
    );
}

/** Throws `invalid_version`. */
export function checkPackVersion(version: string): void {
  // What semver would repair, such as a leading v, has two spellings: only the one that it returns is taken.
  if (version.length > 256 || valid(version) !== withoutBuild(version))
    throw new PackError('invalid_version', `${shown(version)} is no semantic version, such as 1.2.0.`);
}

function withoutBuild(version: string): string {
  return version.split('+', 1)[0] ?? '';
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

import { ArchiveError } from './archive-error.ts';

/** The name as the manifest would have it, or a refusal. Names are never joined with a path of this machine. */
export function safeName(
  name: string,
  isLenient: boolean,
  tolerate: (name: string, found: string) => void,
): string {
  const bare = name.replace(/^(?:\.\/)+/, '');
  if (bare === '.' || bare === '') {
    if (isLenient && name !== '') return '.';
    throw new ArchiveError('member_name', JSON.stringify(name), 'an invalid name', 'a relative path');
  }
  const reason = nameProblem(bare);
  if (reason !== undefined)
    throw new ArchiveError('member_name', JSON.stringify(name), reason, 'a relative path without . and ..');
  if (bare !== name) {
    if (!isLenient)
      throw new ArchiveError(
        'member_name',
        JSON.stringify(name),
        'a name that begins with ./',
        'names as the manifest lists them (--lenient accepts it)',
      );
    tolerate(name, 'names that begin with ./');
  }
  return bare;
}

/** Why a path may not be used inside an archive; undefined when it may. */
export function nameProblem(name: string): string | undefined {
  if (name.startsWith('/') || /^[A-Za-z]:[\\/]/.test(name)) return 'an absolute path';
  const segments = name.split('/');
  if (segments.includes('..')) return 'a path that leads out of the archive';
  if (segments.some((segment) => segment === '' || segment === '.')) return 'a path with empty parts';
  return undefined;
}

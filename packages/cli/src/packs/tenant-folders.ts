/** Whose packs are where: those of the default tenant in the folder itself, those of others below `tenants`, each in a folder of its name. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unusable, usageError } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';

const TENANTS = 'tenants';
const DEFAULT_TENANT = 'default';
/** Names that every file system takes as they are. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;
const MOST_TENANTS = 1_000;

/** Throws CliError for a tenant that cannot be the name of a folder. */
export function packsOf(packs: string, tenant: string = DEFAULT_TENANT): string {
  if (tenant === DEFAULT_TENANT) return packs;
  if (NAME.test(tenant)) return join(packs, TENANTS, tenant);
  throw usageError(
    '--tenant takes small letters, digits, "-", "_" and ".", 128 of them at most: packs are kept in a folder of that name.',
  );
}

/** The folder above that of a tenant, whose trust holds where the tenant has none of its own; undefined for that of the default tenant. */
export function commonFolder(path: string): string | undefined {
  const tenants = join(path, '..');
  return tenants.endsWith(TENANTS) && NAME.test(path.slice(tenants.length + 1))
    ? join(tenants, '..')
    : undefined;
}

export interface TenantFolder {
  readonly tenant: string;
  readonly path: string;
}

/** That of the default tenant comes first. Throws CliError for a folder that is no tenant's. */
export async function tenantFolders(path: string): Promise<readonly TenantFolder[]> {
  const names = await foldersIn(join(path, TENANTS));
  const wrong = names.find((name) => !NAME.test(name) || name === DEFAULT_TENANT);
  if (wrong !== undefined)
    throw unusable('packs_unusable', `${join(path, TENANTS, wrong)} is no folder of a tenant's packs.`);
  if (names.length > MOST_TENANTS)
    throw unusable(
      'packs_unusable',
      `${join(path, TENANTS)} has ${names.length} folders; ${MOST_TENANTS} at most.`,
    );
  return [
    { tenant: DEFAULT_TENANT, path },
    ...names.map((tenant) => ({ tenant, path: packsOf(path, tenant) })),
  ];
}

async function foldersIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return [];
    throw unusable('folder_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

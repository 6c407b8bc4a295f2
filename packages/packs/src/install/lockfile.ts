/**
 * `pack-lock.json`: which packs are installed, exactly. The same packs give the same bytes, but for the time.
 */
import { rcompare, satisfies } from 'semver';
import { type Static, Type } from 'typebox';
import { documentReader } from '../closed-document.ts';
import { PackError } from '../pack-error.ts';
import { INTEGRITY_PATTERN } from '../signing/integrity.ts';

export const LOCKFILE_VERSION = 1;

const optional = Type.Optional;
const closed = { additionalProperties: false } as const;
const text = Type.String({ minLength: 1, maxLength: 256 });
const requirements = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: 100,
  additionalProperties: text,
});

const EntrySchema = Type.Object(
  {
    name: text,
    version: text,
    /** The archive, in the folder of the lockfile. */
    resolved: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,510}\\.tgz$' }),
    integrity: Type.String({ pattern: INTEGRITY_PATTERN }),
    signature: optional(
      Type.Object(
        {
          algorithm: Type.Literal('ed25519'),
          publicKey: text,
          value: Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$' }),
        },
        closed,
      ),
    ),
    dependencies: optional(requirements),
    peerDependencies: optional(requirements),
  },
  closed,
);

const LockfileSchema = Type.Object(
  {
    lockfileVersion: Type.Literal(LOCKFILE_VERSION),
    generatedAt: Type.String({ format: 'date-time' }),
    packs: Type.Array(EntrySchema, { maxItems: 1_000 }),
  },
  closed,
);

export type LockEntry = Static<typeof EntrySchema>;
export type Lockfile = Static<typeof LockfileSchema>;

const readDocument = documentReader(LockfileSchema, 'pack-lock.json', 'pack_lockfile_invalid');

/** Throws PackError. */
export function readLockfile(source: string): Lockfile {
  const lockfile = readDocument(source);
  const seen = new Set<string>();
  for (const { name, version } of lockfile.packs) {
    const id = `${name}@${version}`;
    if (seen.has(id)) throw new PackError('pack_lockfile_invalid', `pack-lock.json has ${id} twice.`);
    seen.add(id);
  }
  checkDependencies(lockfile.packs);
  return lockfile;
}

export function lockfileText(packs: readonly LockEntry[], generatedAt: string): string {
  checkDependencies(packs);
  const sorted = [...packs].sort(byName).map(sortedEntry);
  return `${JSON.stringify({ generatedAt, lockfileVersion: LOCKFILE_VERSION, packs: sorted }, null, 2)}\n`;
}

function byName(a: LockEntry, b: LockEntry): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return rcompare(b.version, a.version);
}

function sortedEntry(entry: LockEntry): unknown {
  return sortedKeys(entry);
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, inner]) => [key, sortedKeys(inner)]));
}

/** Every pack that another one depends on is there, in a version that fits, and none depends on itself. Throws PackError. */
export function checkDependencies(packs: readonly LockEntry[]): void {
  const next = new Map<LockEntry, readonly LockEntry[]>();
  for (const entry of packs) {
    const wanted = Object.entries(entry.dependencies ?? {});
    next.set(
      entry,
      wanted.map(([name, range]) => dependency(entry, name, range, packs)),
    );
  }
  refuseCycles(next);
}

function dependency(entry: LockEntry, name: string, range: string, packs: readonly LockEntry[]): LockEntry {
  const installed = packs.filter((other) => other.name === name);
  if (installed.length === 0)
    throw new PackError(
      'pack_lockfile_incomplete',
      `${entry.name} ${entry.version} depends on ${name} ${range}, which is not installed. Install that one first.`,
    );
  const [best] = installed
    .filter(({ version }) => satisfies(version, range))
    .sort((a, b) => rcompare(a.version, b.version));
  if (best !== undefined) return best;
  const versions = installed.map(({ version }) => version).join(', ');
  throw new PackError(
    'pack_dependency_conflict',
    `${entry.name} ${entry.version} depends on ${name} ${range}; installed is ${versions}.`,
  );
}

/** Takes away packs that depend on nothing that is left; what stays leads in a circle. */
function refuseCycles(next: ReadonlyMap<LockEntry, readonly LockEntry[]>): void {
  const left = new Map(next);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [entry, others] of left) if (!others.some((other) => left.has(other))) left.delete(entry);
  }
  if (left.size === 0) return;
  const names = [...left.keys()].map(({ name }) => name).join(', ');
  throw new PackError('pack_dependency_cycle', `These packs depend on each other in a circle: ${names}.`);
}

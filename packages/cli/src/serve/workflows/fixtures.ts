import { createHash } from 'node:crypto';
import type { Caller, Host } from '@weft/engine';
import { type JsonObject, isHostError } from '@weft/protocol/plain';
import type { LoadedFile } from './workflow-files.ts';

/** What became of the workflows that a conformance suite expects to find. */
export interface BuiltInFixtures {
  readonly registered: number;
  readonly problems: readonly string[];
}

type Registrar = Pick<Host, 'workflows' | 'capabilities'>;
type Outcome = 'registered' | 'replaced' | { readonly problem: string };

/** In the version of a built-in fixture, before the digest of its content: it meets no version of a file, and no older one of ours. */
const MARK = '+weft.';

/** Registers the built-in fixtures, except where a file, or a client at any time, has registered a workflow of the same id. */
export async function registerFixtures(
  host: Registrar,
  caller: Caller,
  files: readonly LoadedFile[],
): Promise<BuiltInFixtures> {
  // Loaded here, because only a test host needs them.
  const { FIXTURES } = await import('@weft/conformance/fixtures');
  const fromFiles = new Set(files.flatMap((file) => ('id' in file ? [file.id] : [])));
  const wanted = FIXTURES.filter(({ id }) => !fromFiles.has(String(id)));
  // All at once, so that they are written in a few transactions.
  const outcomes = await Promise.all(wanted.map((fixture) => register(host, caller, fixture)));
  return {
    registered: outcomes.filter((outcome) => outcome === 'registered').length,
    problems: outcomes.flatMap((outcome) => (typeof outcome === 'string' ? [] : [outcome.problem])),
  };
}

async function register(host: Registrar, caller: Caller, fixture: JsonObject): Promise<Outcome> {
  const id = String(fixture['id']);
  const current = await host.workflows.get(caller, id);
  if (current !== undefined && !current.version.includes(MARK)) return 'replaced';
  const digest = createHash('sha256').update(JSON.stringify(fixture)).digest('hex');
  const version = `${String(fixture['version'])}${MARK}${digest.slice(0, 8)}`;
  // A restart: nothing to compile again. What is not listed may have come from another process a moment ago.
  if (current?.version === version && host.capabilities().fixtures?.includes(id) === true)
    return 'registered';
  try {
    await host.workflows.register(caller, { ...fixture, version }, { strict: false, dev: false });
    return 'registered';
  } catch (error) {
    // Limits may be set lower than a fixture needs.
    if (!isHostError(error)) throw error;
    return { problem: `built-in ${id}: ${error.message}` };
  }
}

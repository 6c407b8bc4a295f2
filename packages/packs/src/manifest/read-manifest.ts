import {
  compileValidator,
  fieldName,
  isHostError,
  parseStrictJson,
  type Json,
  RESERVED_TYPE_PREFIXES,
} from '@weft/protocol';
import { validRange } from 'semver';
import { PackError } from '../pack-error.ts';
import { agentProblem } from './check-agents.ts';
import { ManifestSchema, type PackManifest, type PackNode } from './manifest-schema.ts';
import { checkPackName, checkPackVersion } from './pack-name.ts';

const validate = compileValidator(ManifestSchema);

/** The manifest in the bytes of a `pack.json`. Throws PackError. */
export function readManifest(bytes: Uint8Array): PackManifest {
  return checkManifest(parseManifest(bytes));
}

/** Throws PackError with the field that is wrong. */
export function checkManifest(value: Json): PackManifest {
  const [problem] = validate(value);
  if (problem !== undefined) throw invalid(problem.path, problem.message);
  const manifest: PackManifest = { nodes: [], ...(value as Omit<PackManifest, 'nodes'>) };
  checkPackName(manifest.name);
  checkPackVersion(manifest.version);
  const { nodes, agents = [] } = manifest;
  if (nodes.length + agents.length === 0) throw invalid('/nodes', 'a pack has nodes, agents, or both');
  checkNodes(nodes);
  const wrong = agentProblem(manifest);
  if (wrong !== undefined) throw invalid(wrong.path, wrong.message);
  checkRanges(manifest);
  return manifest;
}

function parseManifest(bytes: Uint8Array): Json {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    const reason = isHostError(cause) ? cause.message : 'it is not UTF-8';
    throw new PackError('tarball_manifest_not_json', `pack.json cannot be read: ${reason}`, { cause });
  }
}

function checkNodes(nodes: readonly PackNode[]): void {
  const seen = new Set<string>();
  for (const [index, { typeId, version }] of nodes.entries()) {
    const place = `/nodes/${index}/typeId`;
    const owner = [...RESERVED_TYPE_PREFIXES, 'local.'].find((prefix) => typeId.startsWith(prefix));
    if (owner !== undefined)
      throw invalid(place, `node types of ${owner}* cannot be packed; begin it with a name of yours`);
    if (seen.has(typeId)) throw invalid(place, `${typeId} is there twice`);
    seen.add(typeId);
    try {
      checkPackVersion(version);
    } catch (cause) {
      if (!(cause instanceof PackError)) throw cause;
      throw invalid(`/nodes/${index}/version`, cause.message.replace(/\.$/, ''));
    }
  }
}

function checkRanges({ name, engines, dependencies = {} }: PackManifest): void {
  if (validRange(engines['openwop']) === null)
    throw new PackError(
      'invalid_engines_range',
      `engines.openwop is ${JSON.stringify(engines['openwop'])}, which is no range of versions, such as "^1.0.0".`,
    );
  for (const [other, range] of Object.entries(dependencies)) {
    checkPackName(other);
    if (other === name) throw invalid(`/dependencies/${other}`, 'a pack cannot depend on itself');
    if (validRange(range) === null)
      throw invalid(`/dependencies/${other}`, `${JSON.stringify(range)} is no range of versions`);
  }
}

function invalid(path: string, message: string): PackError {
  const field = fieldName(path);
  const place = field === '' ? '' : ` at ${field}`;
  const end = /[?.]$/.test(message) ? '' : '.';
  return new PackError('invalid_manifest', `pack.json is not valid${place}: ${message}${end}`, {
    details: { field },
  });
}

import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { type Problem, READABLE } from '../contract/problem.ts';
import { HEALTH_FILE, MANIFEST_FILE, MANIFEST_SCHEMA } from '../contract/vocabulary.ts';
import type { ArtifactSink, Report } from './artifact-sink.ts';
import { checkIdentity, objectSink } from './json-document.ts';

export interface ManifestEntry {
  readonly bytes: number;
  /** 64 hexadecimal digits, in lower case. */
  readonly digest: string;
}

export interface Manifest {
  readonly runId: string | undefined;
  readonly files: ReadonlyMap<string, ManifestEntry>;
}

/** What was really read under a name. */
export interface FileFacts {
  readonly bytes: number;
  readonly digest: string;
}

const RULES = { file: MANIFEST_FILE, schema: MANIFEST_SCHEMA };
const DIGEST = /^sha256:([0-9a-f]{64})$/;
const UPPER_DIGEST = /^sha256:([0-9a-fA-F]{64})$/;

export function manifestSink(
  isLenient: boolean,
  report: Report,
  done: (manifest: Manifest) => void,
): ArtifactSink {
  return objectSink(RULES, 4, report, (fields) => {
    const runId = checkIdentity(RULES, fields.get('schema'), fields.get('run_id'), report);
    const listed = fields.get('files');
    const files = new Map<string, ManifestEntry>();
    if (!(listed instanceof Map)) {
      report(problem('manifest_shape', '/files', quoteNode(listed), 'an object of files by path'));
    } else {
      for (const [path, entry] of listed as ReadonlyMap<string, JsonNode>) {
        const facts = readEntry(path, entry, isLenient, report);
        if (facts !== undefined) files.set(path, facts);
      }
    }
    done({ runId, files });
  });
}

function readEntry(
  path: string,
  entry: JsonNode,
  isLenient: boolean,
  report: Report,
): ManifestEntry | undefined {
  const place = `/files/${path}`;
  if (!(entry instanceof Map)) {
    report(problem('manifest_shape', place, quoteNode(entry), 'an object with path, sha256 and bytes'));
    return undefined;
  }
  const fields = entry as ReadonlyMap<string, JsonNode>;
  const named = fields.get('path');
  if (named !== path)
    report(problem('manifest_path', `${place}/path`, quoteNode(named), JSON.stringify(path)));
  const bytes = fields.get('bytes');
  const isSize = typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0;
  if (!isSize) report(problem('manifest_shape', `${place}/bytes`, quoteNode(bytes), 'a size in bytes'));
  const digest = readDigest(place, fields.get('sha256'), isLenient, report);
  return isSize && digest !== undefined ? { bytes, digest } : undefined;
}

function readDigest(
  place: string,
  found: JsonNode | undefined,
  isLenient: boolean,
  report: Report,
): string | undefined {
  const text = typeof found === 'string' ? found : '';
  const exact = DIGEST.exec(text)?.[1];
  if (exact !== undefined) return exact;
  const needed = '"sha256:" and 64 hexadecimal digits in lower case';
  const upper = UPPER_DIGEST.exec(text)?.[1];
  const wrong = problem('manifest_digest_form', `${place}/sha256`, quoteNode(found), needed);
  report(upper !== undefined && isLenient ? { ...wrong, effect: 'note', readable: READABLE.all } : wrong);
  return upper !== undefined && isLenient ? upper.toLowerCase() : undefined;
}

/** Compares a manifest with what was read. `isClosed`: files that it does not list are refused. */
export function checkManifest(
  manifest: Manifest,
  read: ReadonlyMap<string, FileFacts>,
  runId: string | undefined,
  isClosed: boolean,
  report: Report,
): void {
  for (const [path, entry] of manifest.files) {
    const facts = read.get(path);
    if (facts === undefined) {
      report({
        ...problem('listed_but_missing', '', 'no such file', 'the file, as manifest.json lists it'),
        file: path,
      });
      continue;
    }
    if (facts.bytes !== entry.bytes) {
      const needed = `${entry.bytes} bytes, as manifest.json says`;
      report({ ...problem('wrong_size', 'size', `${facts.bytes} bytes`, needed), file: path });
    }
    if (facts.digest !== entry.digest) {
      const needed = `sha256 ${entry.digest}, as manifest.json says: the file was changed`;
      report({ ...problem('wrong_digest', 'sha256', facts.digest, needed), file: path });
    }
  }
  if (isClosed) {
    for (const path of read.keys())
      if (path !== MANIFEST_FILE && !manifest.files.has(path))
        report({
          ...problem('not_listed', '', 'a member', 'an entry in manifest.json, or no such member'),
          file: path,
        });
  }
  if (runId !== undefined && manifest.runId !== undefined && manifest.runId !== runId) {
    const needed = `${JSON.stringify(runId)}, as in ${HEALTH_FILE}`;
    report(problem('run_id_mismatch', '/run_id', JSON.stringify(manifest.runId), needed));
  }
}

function problem(code: string, field: string, found: string, needed: string): Problem {
  const readable = 'Nothing that needs the evidence to be what the runner wrote.';
  return { code, effect: 'failed', file: MANIFEST_FILE, field, found, needed, readable };
}

import { pathOf } from '@weft/protocol/plain';
import { usageError } from '../../exit-code.ts';
import { shown } from '../terminal-text.ts';

/** One side of a comparison, as it was typed. */
export type Side = RunSide | BundleFileSide;

/** A run of the host in use, or of the host that the URL names. */
export interface RunSide {
  readonly kind: 'run';
  readonly runId: string;
  /** Base URL of its host; absent = the host in use. */
  readonly host?: string;
}

/** A debug bundle in a file. */
export interface BundleFileSide {
  readonly kind: 'bundle';
  readonly file: string;
}

const RUN_PATH = new RegExp(`^(.*)${pathOf('getRun', { runId: '' })}([^/:]+)/?$`);
const EXAMPLE = `http://127.0.0.1:7878${pathOf('getRun', { runId: 'ID' })}`;
const BUNDLE_FILE = /^\.{0,2}\/|\.(?:json|gz)$/i;

/** A run id, the URL of a run, or the file of a bundle. */
export function parseSide(text: string): Side {
  if (/^https?:\/\//i.test(text)) return parseUrl(text);
  if (BUNDLE_FILE.test(text)) return { kind: 'bundle', file: text };
  if (text === '' || /[/:\s]/.test(text)) {
    throw usageError(
      shown`"${text}" is neither a run id, nor a URL such as ${EXAMPLE}, nor a bundle such as ./run.json.`,
    );
  }
  return { kind: 'run', runId: text };
}

function parseUrl(text: string): RunSide {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const match = url === undefined ? null : RUN_PATH.exec(url.pathname);
  const runId = match === null ? undefined : decoded(match[2] ?? '');
  if (url === undefined || runId === undefined || url.username !== '' || url.password !== '') {
    throw usageError(`The URL of a run looks like ${EXAMPLE}, without a user or password.`);
  }
  return { kind: 'run', runId, host: url.origin + (match?.[1] ?? '') };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

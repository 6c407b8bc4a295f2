import type { ArtifactSink } from '../artifacts/artifact-sink.ts';
import { type Correlation, correlationSink } from '../artifacts/correlation.ts';
import { type Health, healthSink } from '../artifacts/health.ts';
import { runHintSink } from '../artifacts/run-hint.ts';
import { type SdkLayer, sdkSink } from '../artifacts/sdk-layer.ts';
import { type Surface, surfaceSink } from '../artifacts/surface.ts';
import { prefixProblem } from './declared.ts';
import { type Problem, READABLE } from './problem.ts';
import { CORRELATION_FILE, EVENTS_FILE, HEALTH_FILE, SDK_FILE, SURFACE_FILE } from './vocabulary.ts';

/** Everything one run's files say, and everything that is wrong with them. */
export interface Evidence {
  /** The prefix that its canonical paths were made with. */
  readonly workDirPrefix: string | undefined;
  readonly health: Health | undefined;
  readonly surface: Surface | undefined;
  readonly correlation: Correlation | undefined;
  readonly sdk: SdkLayer | undefined;
  /** What the run's own event log suggests as a prefix; for people, never applied. */
  readonly prefixHint: string | undefined;
  readonly problems: readonly Problem[];
}

export interface CollectOptions {
  /** Needed for cross-runtime diffs; paths are rewritten as they are read. */
  readonly workDirPrefix?: string | undefined;
  /** Keep paths as observed too, when a prefix is given: capability diffs and reports need them. Costs memory. */
  readonly keepRawPaths?: boolean | undefined;
}

export interface EvidenceCollector {
  /** Where the bytes of this file go; undefined when no contract reads it. */
  open(file: string, size: number): ArtifactSink | undefined;
  /** For problems that a reader finds: damage, digests, limits. */
  report(problem: Problem): void;
  /** `isCut`: reading stopped before the end, so that what is missing says nothing about the run. */
  finish(isCut?: boolean): Evidence;
}

const REQUIRED = [HEALTH_FILE, SURFACE_FILE, CORRELATION_FILE, SDK_FILE];

/** Takes the files of one run in any order, each in any number of pieces, and never throws for what they hold. */
export function collectEvidence(options: CollectOptions = {}): EvidenceCollector {
  const problems: Problem[] = [];
  const opened = new Set<string>();
  const report = (problem: Problem): void => {
    problems.push(problem);
  };
  const prefix = options.workDirPrefix;
  const workDirPrefix = prefix === undefined || prefixProblem(prefix, '') !== undefined ? undefined : prefix;
  let health: Health | undefined;
  let surface: Surface | undefined;
  let correlation: Correlation | undefined;
  let sdk: SdkLayer | undefined;
  let prefixHint: string | undefined;

  return {
    report,
    open(file, size) {
      opened.add(file);
      switch (file) {
        case HEALTH_FILE:
          return healthSink(report, (found) => (health = found));
        case SURFACE_FILE: {
          const keepRawPaths = workDirPrefix === undefined || options.keepRawPaths === true;
          return surfaceSink({ workDirPrefix, keepRawPaths, size }, report, (found) => (surface = found));
        }
        case CORRELATION_FILE:
          return correlationSink(report, (found) => (correlation = found));
        case SDK_FILE:
          return sdkSink(report, (found) => (sdk = found));
        case EVENTS_FILE:
          return runHintSink((found) => (prefixHint = found));
        default:
          return undefined;
      }
    },
    finish(isCut = false) {
      for (const file of REQUIRED) {
        const isKnown = opened.has(file) || problems.some((problem) => problem.file === file);
        if (!isKnown && !isCut) report(missing(file));
      }
      compareRunIds(health, surface, correlation, sdk, report);
      return { workDirPrefix, health, surface, correlation, sdk, prefixHint, problems };
    },
  };
}

function missing(file: string): Problem {
  return {
    code: 'missing_file',
    effect: 'failed',
    file,
    field: '',
    found: 'no such file',
    needed: 'the file',
    readable: READABLE.nothing,
    ...(file === SDK_FILE ? { only: 'cross' as const } : {}),
  };
}

function compareRunIds(
  health: Health | undefined,
  surface: Surface | undefined,
  correlation: Correlation | undefined,
  sdk: SdkLayer | undefined,
  report: (problem: Problem) => void,
): void {
  const runId = health?.runId;
  if (runId === undefined) return;
  const differs = (file: string, found: string, field = '/run_id'): Problem => ({
    code: 'run_id_mismatch',
    effect: 'failed',
    file,
    field,
    found: JSON.stringify(found),
    needed: `${JSON.stringify(runId)}, as in ${HEALTH_FILE}: the files belong to different runs`,
    readable: READABLE.noDiff,
  });
  for (const [file, found] of [
    [SURFACE_FILE, surface?.runId],
    [CORRELATION_FILE, correlation?.runId],
  ] as const) {
    if (found !== undefined && found !== runId) report(differs(file, found));
  }
  for (const [found, line] of sdk?.runIds ?? []) {
    if (found !== runId) report({ ...differs(SDK_FILE, found, `line ${line}`), only: 'cross' });
  }
}

import { isJsonObject, type Json, type JsonObject, shownName } from '@weft/protocol';
import { PROFILES, type ProfileId } from '../requirements/profiles.ts';
import {
  type CheckResult,
  type ProfileResult,
  profileResults,
  type RequirementOutcome,
  type RequirementResult,
  requirementResults,
} from '../suite/outcome.ts';

export const SUITE_VERSION = '0.1.0';

/** What the shell learns. */
export const SUITE_EXIT = { proven: 0, failed: 1, usage: 2, noHost: 3, strictUnmet: 4 } as const;
export type SuiteExit = (typeof SUITE_EXIT)[keyof typeof SUITE_EXIT];

/** All that a run of the suite found out; every form of report is made from this. */
export interface SuiteReport {
  readonly url: string | undefined;
  readonly host: { readonly name: string; readonly version: string; readonly protocolVersion: string };
  readonly startedAt: string;
  readonly ms: number;
  readonly checks: readonly CheckResult[];
  readonly requirements: readonly RequirementResult[];
  readonly profiles: readonly ProfileResult[];
  readonly isStrict: boolean;
  /** Profiles that strict mode looks at. */
  readonly evaluatedProfiles: readonly ProfileId[];
  readonly isHostGone: boolean;
  readonly exit: SuiteExit;
}

export interface Findings {
  readonly url: string | undefined;
  readonly discovery: JsonObject | undefined;
  readonly startedAt: Date;
  readonly ms: number;
  readonly checks: readonly CheckResult[];
  readonly isStrict: boolean;
  readonly profile: ProfileId | undefined;
  readonly isHostGone: boolean;
}

export function reportOf(findings: Findings): SuiteReport {
  const { url, discovery, startedAt, ms, checks, isStrict, profile, isHostGone } = findings;
  const requirements = requirementResults(discovery, checks);
  const profiles = profileResults(discovery, requirements);
  const evaluatedProfiles =
    profile === undefined ? profiles.filter(({ isClaimed }) => isClaimed).map(({ id }) => id) : [profile];
  const implementation = discovery?.['implementation'];
  const about = isJsonObject(implementation) ? implementation : {};
  const report = {
    url,
    host: {
      name: textOf(about['name']),
      version: textOf(about['version']),
      protocolVersion: textOf(discovery?.['protocolVersion']),
    },
    startedAt: startedAt.toISOString(),
    ms,
    checks,
    requirements,
    profiles,
    isStrict,
    evaluatedProfiles,
    isHostGone,
  };
  return { ...report, exit: exitOf(report) };
}

function exitOf({
  isHostGone,
  checks,
  requirements,
  isStrict,
  evaluatedProfiles,
  profiles,
}: Omit<SuiteReport, 'exit'>): SuiteExit {
  if (isHostGone) return SUITE_EXIT.noHost;
  const isWrong =
    checks.some(({ outcome }) => outcome === 'broken') ||
    requirements.some(({ outcome, requirement }) => outcome === 'failed' && requirement.level === 'MUST');
  if (isWrong) return SUITE_EXIT.failed;
  if (!isStrict) return SUITE_EXIT.proven;
  const areMet = evaluatedProfiles.every((id) =>
    profiles.some((profile) => profile.id === id && profile.isMet),
  );
  return evaluatedProfiles.length > 0 && areMet ? SUITE_EXIT.proven : SUITE_EXIT.strictUnmet;
}

export function countOutcomes(
  requirements: readonly RequirementResult[],
): Record<RequirementOutcome, number> {
  const counts = { proven: 0, failed: 0, 'not-applicable': 0, 'not-tested': 0 };
  for (const { outcome } of requirements) counts[outcome] += 1;
  return counts;
}

/** What strict mode says of a profile that is not met. */
export function lackOf({ unmet }: ProfileResult): string {
  return unmet.length === 0 ? 'none of its requirements was tested' : unmet.join(', ');
}

/** What a profile asks a host to advertise. */
export function saysOf(profile: ProfileId): string {
  return PROFILES[profile].says;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? shownName(value) : 'unknown';
}

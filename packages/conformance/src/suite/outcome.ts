import type { JsonObject } from '@weft/protocol';
import { GATES } from '../requirements/gates.ts';
import { REQUIREMENTS, type RequirementId } from '../areas/requirements.ts';
import { PROFILES, type ProfileId } from '../requirements/profiles.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { Step } from './trace.ts';

/** `broken` is an error of the suite itself: a check that asked nothing, expected nothing, or threw. */
export type CheckOutcome = 'passed' | 'failed' | 'not-applicable' | 'not-tested' | 'broken';

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly proves: readonly RequirementId[];
  readonly outcome: CheckOutcome;
  /** Why it failed, does not apply or was not run. */
  readonly reason?: string;
  readonly ms: number;
  readonly steps: readonly Step[];
}

export type RequirementOutcome = 'proven' | 'failed' | 'not-applicable' | 'not-tested';

export interface RequirementResult {
  readonly id: RequirementId;
  readonly requirement: Requirement;
  readonly outcome: RequirementOutcome;
  readonly reason?: string;
  /** The checks that were to prove it. */
  readonly checks: readonly string[];
}

export interface ProfileResult {
  readonly id: ProfileId;
  readonly isClaimed: boolean;
  readonly counts: Readonly<Record<RequirementOutcome, number>>;
  /** Requirements of the profile that are not proven although they could be; strict mode wants none. */
  readonly unmet: readonly RequirementId[];
  /** Nothing is unmet, and something is proven: a profile of which nothing was looked at is not met. */
  readonly isMet: boolean;
}

export function requirementResults(
  discovery: JsonObject | undefined,
  checks: readonly CheckResult[],
): RequirementResult[] {
  return (Object.keys(REQUIREMENTS) as RequirementId[]).map((id) => {
    const requirement: Requirement = REQUIREMENTS[id];
    const own = checks.filter(({ proves }) => proves.includes(id));
    return {
      id,
      requirement,
      checks: own.map((check) => check.id),
      ...outcomeOf(requirement, discovery, own),
    };
  });
}

function outcomeOf(
  { gate, notTested }: Requirement,
  discovery: JsonObject | undefined,
  checks: readonly CheckResult[],
): { outcome: RequirementOutcome; reason?: string } {
  const wrong = checks.find(({ outcome }) => outcome === 'failed' || outcome === 'broken');
  if (wrong !== undefined) return { outcome: 'failed', reason: wrong.reason ?? wrong.id };
  if (gate !== undefined && discovery !== undefined && !GATES[gate].isOpen(discovery))
    return { outcome: 'not-applicable', reason: `not advertised: ${GATES[gate].says}` };
  const skipped = checks.find(({ outcome }) => outcome !== 'passed');
  if (checks.length > 0 && skipped === undefined) return { outcome: 'proven' };
  if (skipped?.outcome === 'not-applicable')
    return { outcome: 'not-applicable', reason: skipped.reason ?? skipped.id };
  return { outcome: 'not-tested', reason: skipped?.reason ?? notTested ?? 'its check was not selected' };
}

export function profileResults(
  discovery: JsonObject | undefined,
  requirements: readonly RequirementResult[],
): ProfileResult[] {
  return (Object.keys(PROFILES) as ProfileId[]).map((id) => {
    const own = requirements.filter(({ requirement }) => requirement.profiles?.includes(id));
    const counts = { proven: 0, failed: 0, 'not-applicable': 0, 'not-tested': 0 };
    for (const { outcome } of own) counts[outcome] += 1;
    const unmet = own
      .filter(({ outcome, requirement }) => outcome !== 'proven' && requirement.notTested === undefined)
      .map((result) => result.id);
    return {
      id,
      isClaimed: discovery !== undefined && PROFILES[id].isClaimed(discovery),
      counts,
      unmet,
      isMet: unmet.length === 0 && counts.proven > 0,
    };
  });
}

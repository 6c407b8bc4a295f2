import type { RequirementTable } from './requirement.ts';

export const IDEMPOTENCY_REQUIREMENTS = {} as const satisfies RequirementTable;

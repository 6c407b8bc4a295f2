import type { RequirementTable } from './requirement.ts';

export const AUDIT_REQUIREMENTS = {} as const satisfies RequirementTable;

import type { RequirementTable } from './requirement.ts';

export const SECRETS_REQUIREMENTS = {} as const satisfies RequirementTable;

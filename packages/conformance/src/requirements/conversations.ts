import type { RequirementTable } from './requirement.ts';

export const CONVERSATIONS_REQUIREMENTS = {} as const satisfies RequirementTable;

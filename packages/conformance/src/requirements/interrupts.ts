import type { RequirementTable } from './requirement.ts';

export const INTERRUPTS_REQUIREMENTS = {} as const satisfies RequirementTable;

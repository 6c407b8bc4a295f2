import type { RequirementTable } from './requirement.ts';

export const ANNOTATIONS_REQUIREMENTS = {} as const satisfies RequirementTable;

import type { RequirementTable } from './requirement.ts';

export const TRANSPORT_REQUIREMENTS = {} as const satisfies RequirementTable;

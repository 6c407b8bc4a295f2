import type { RequirementTable } from './requirement.ts';

export const WIRE_SHAPE_REQUIREMENTS = {} as const satisfies RequirementTable;

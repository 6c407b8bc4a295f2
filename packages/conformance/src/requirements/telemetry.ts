import type { RequirementTable } from './requirement.ts';

export const TELEMETRY_REQUIREMENTS = {} as const satisfies RequirementTable;

import type { RequirementTable } from './requirement.ts';

export const WEBHOOKS_REQUIREMENTS = {} as const satisfies RequirementTable;

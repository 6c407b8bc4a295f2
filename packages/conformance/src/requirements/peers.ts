import type { RequirementTable } from './requirement.ts';

export const PEERS_REQUIREMENTS = {} as const satisfies RequirementTable;

import type { RequirementTable } from './requirement.ts';

export const RUN_REQUIREMENTS = {
  'RUN-1': {
    document: 'rest-endpoints',
    section: 'POST /v1/runs',
    level: 'MUST',
    text: 'A run is created with 201 and a body that has its runId and its status.',
    profiles: ['openwop-core', 'openwop-core-standard'],
  },
} as const satisfies RequirementTable;

import type { OfferedAgent } from '@weft/engine';

/** Agents of packs that a conformance suite expects, for test hosts. What their models say is said by the runs of the suite. */
export const SUITE_AGENTS: readonly OfferedAgent[] = [
  {
    agentId: 'core.conformance.agent-pack.sorter',
    persona: 'Sorter',
    label: 'Sorter',
    modelClass: 'general',
    packName: 'core.conformance.agent-pack',
    packVersion: '1.0.0',
    toolAllowlist: [],
    systemPrompt: 'Say of what kind the message is.',
    taskSchema: {
      type: 'object',
      properties: { subject: { type: 'string' } },
      required: ['subject'],
      additionalProperties: false,
    },
    returnSchema: {
      type: 'object',
      properties: { kind: { enum: ['order', 'question'] } },
      required: ['kind'],
      additionalProperties: false,
    },
  },
];

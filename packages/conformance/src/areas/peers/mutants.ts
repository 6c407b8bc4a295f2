import { replaces } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY } from '../../mutants/targets.ts';
import { AGENT_MUTANTS } from './mutants-agents.ts';
import { MODEL_MUTANTS } from './mutants-models.ts';
import { ENVELOPE_MUTANTS } from './mutants-envelopes.ts';

export const PEERS_MUTANTS: readonly Mutant[] = [
  {
    id: 'peers/mcp-nowhere',
    breaks: 'a host serves MCP and does not say where',
    caughtBy: ['peers/mcp-discovery'],
    says: /mcp\.serverUrls is a list/,
    on: DISCOVERY,
    answer: replaces('mcp', { supported: true }),
  },
  {
    id: 'peers/mcp-on-stdio',
    breaks: 'a host serves MCP where no URL leads',
    caughtBy: ['peers/mcp-discovery'],
    says: /a path or an http URL/,
    on: DISCOVERY,
    answer: replaces('mcp', { supported: true, serverUrls: ['stdio:weft'] }),
  },
  {
    id: 'peers/a2a-without-card',
    breaks: 'a host serves A2A without an agent card',
    caughtBy: ['peers/a2a-discovery'],
    says: /a2a\.agentCardUrl is a text/,
    on: DISCOVERY,
    answer: replaces('a2a', { supported: true }),
  },
  {
    id: 'peers/unknown-mode',
    breaks: 'a policy has a mode that does not exist',
    caughtBy: ['peers/provider-policies'],
    says: /a mode is one of/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: [], policies: { modes: ['optional', 'forbidden'] } }),
  },
  {
    id: 'peers/mode-twice',
    breaks: 'a policy lists a mode twice',
    caughtBy: ['peers/provider-policies'],
    says: /has each entry once/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: [], policies: { modes: ['optional', 'optional'] } }),
  },
  {
    id: 'peers/restricted-alone',
    breaks: 'a host can restrict models but not leave them free',
    caughtBy: ['peers/provider-policies'],
    says: /restricted comes with the mode optional/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: [], policies: { modes: ['restricted'] } }),
  },
  {
    id: 'peers/envelope-missing',
    breaks: 'a host supports envelopes but not all universal ones',
    caughtBy: ['peers/envelopes'],
    says: /supportedEnvelopes has schema\.response/,
    on: DISCOVERY,
    answer: replaces('supportedEnvelopes', ['clarification.request', 'schema.request', 'error']),
  },
  ...ENVELOPE_MUTANTS,
  ...MODEL_MUTANTS,
  ...AGENT_MUTANTS,
];

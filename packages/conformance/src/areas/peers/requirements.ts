import type { RequirementTable } from '../../requirements/requirement.ts';

const WITH_MCP = 'no check yet: it comes with the checks for MCP';
const WITH_A2A = 'no check yet: it comes with the checks for A2A';
const WITH_MODELS = 'no check yet: it comes with the checks for models';
const WITH_ENVELOPES = 'no check yet: it comes with the checks for envelopes';

/** MCP, A2A, models, cost and envelopes: what discovery alone shows has checks. */
export const PEERS_REQUIREMENTS = {
  'PEER-1': {
    document: 'conformance-1.0.0',
    section: 'mcp-discoverability',
    level: 'MUST',
    text: 'What discovery says about MCP has a boolean supported; a host that serves MCP lists where, as paths or http URLs.',
    gate: 'mcp',
    reading: 'Later versions have serverMount in place of serverUrls; either is accepted.',
  },
  'PEER-2': {
    document: 'capabilities',
    section: 'a2a',
    level: 'MUST',
    text: 'What discovery says about A2A has a boolean supported, and the URL of the agent card of a host that serves it.',
    gate: 'a2a',
  },
  'PEER-3': {
    document: 'conformance-1.0.0',
    section: 'policies',
    level: 'MUST',
    text: 'Policies for providers list modes out of disabled, optional, required and restricted, each once; scopes are texts, each once, and the error code is one too.',
    gate: 'aiPolicies',
    profiles: ['openwop-provider-policy'],
  },
  'PEER-4': {
    document: 'conformance-1.0.0',
    section: 'providerPolicyEnforcement',
    level: 'MUST',
    text: 'A host that can restrict models advertises the mode optional as well.',
    gate: 'aiPolicies',
    profiles: ['openwop-provider-policy'],
  },
  'PEER-5': {
    document: 'rfc-0094',
    section: 'F: universal envelopes',
    level: 'MUST',
    text: 'A list of supported envelopes that is not empty has clarification.request, schema.request, schema.response and error.',
    gate: 'envelopes',
    reading: 'An older sentence demands the four of every host; an empty list is allowed now.',
  },
  'PEER-6': {
    document: 'conformance-1.0.0',
    section: 'mcp-tool-roundtrip',
    level: 'MUST',
    text: 'A node calls a tool of an MCP server, and the log names the tool.',
    notTested: WITH_MCP,
  },
  'PEER-7': {
    document: 'rfcs',
    section: 'RFC 0020: MCP server',
    level: 'MUST',
    text: 'A host that serves MCP offers its workflows as tools, and checks arguments before it starts a run.',
    gate: 'mcp',
    notTested: WITH_MCP,
  },
  'PEER-8': {
    document: 'rfcs',
    section: 'MCP trust boundary',
    level: 'MUST',
    text: 'Results of tools are untrusted: they are marked as such, resolve no interrupt, and call no tool that is not allowed.',
    notTested: WITH_MCP,
  },
  'PEER-9': {
    document: 'conformance-1.0.0',
    section: 'a2a-task-roundtrip',
    level: 'MUST',
    text: 'A task that asks for authentication leaves the run waiting-input, and one that is rejected fails it.',
    notTested: WITH_A2A,
  },
  'PEER-10': {
    document: 'rfcs',
    section: 'A2A state mapping',
    level: 'MUST',
    text: 'States of runs and of tasks are mapped onto each other in both directions.',
    notTested: WITH_A2A,
  },
  'PEER-11': {
    document: 'run-options',
    section: 'ai.provider, ai.model and ai.credentialRef',
    level: 'MUST',
    text: 'Unknown providers and credentials of others are refused, each with its own code.',
    gate: 'aiProviders',
    notTested: WITH_MODELS,
  },
  'PEER-12': {
    document: 'capabilities',
    section: 'Provider policies',
    level: 'MUST',
    text: 'A policy is applied before every call, fails closed for restricted models, and denies with a reason and never with the policy.',
    gate: 'aiPolicies',
    notTested: WITH_MODELS,
  },
  'PEER-13': {
    document: 'rfcs',
    section: 'provider.usage',
    level: 'MUST',
    text: 'Every call of a model leaves one provider.usage before the end of its node.',
    gate: 'providerUsage',
  },
  'PEER-14': {
    document: 'conformance-1.0.0',
    section: 'cost-attribution',
    level: 'MUST',
    text: 'The openwopCost of a snapshot has the declared members alone, and attributes of cost that are not on the list are dropped.',
  },
  'PEER-15': {
    document: 'rfcs',
    section: 'RFC 0084: budgets',
    level: 'MUST',
    text: 'A budget is reserved at the start, counted as it is spent, and ends the run when it is exhausted.',
    gate: 'budget',
  },
  'PEER-16': {
    document: 'rfcs',
    section: 'Envelope reliability',
    level: 'MUST',
    text: 'Envelopes that are truncated, refused or malformed are retried or given up as advertised, with their events.',
    gate: 'envelopes',
    notTested: WITH_ENVELOPES,
  },
  'PEER-17': {
    document: 'capabilities',
    section: 'limits',
    level: 'MUST',
    text: 'Rounds of clarification and of schemas and envelopes per turn are bounded by the advertised limits.',
    gate: 'envelopes',
    notTested: WITH_ENVELOPES,
  },
} as const satisfies RequirementTable;

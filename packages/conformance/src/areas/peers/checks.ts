import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { A2A_CHECKS } from './a2a-tasks.ts';
import { ENVELOPE_CHECKS } from './envelopes.ts';
import { MCP_SERVER_CHECKS } from './mcp-server.ts';
import { MCP_CHECKS, MODEL_CHECKS } from './models.ts';
import { expectDistinctTexts, readDiscovery } from '../discovery/document.ts';

const MODES = ['disabled', 'optional', 'required', 'restricted'];
const UNIVERSAL_ENVELOPES = ['clarification.request', 'schema.request', 'schema.response', 'error'];

async function family({ host, expect }: CheckContext, name: string): Promise<JsonObject> {
  const discovery = await readDiscovery({ host, expect });
  return expect.object(advertised(discovery, name), `${name} is an object`);
}

export const PEERS_CHECKS: readonly Check[] = [
  {
    id: 'peers/mcp-discovery',
    title: 'discovery says where a host serves MCP',
    proves: ['PEER-1'],
    async run(context) {
      const { expect } = context;

      const { supported, serverUrls, serverMount } = await family(context, 'mcp');

      expect.that(typeof supported === 'boolean', 'mcp.supported is a boolean', supported ?? 'nothing');
      if (supported !== true || (serverMount !== undefined && serverUrls === undefined)) return;
      const urls = expect.array(serverUrls, 'mcp.serverUrls is a list');
      expect.that(urls.length > 0, 'mcp.serverUrls has at least one entry', urls);
      for (const url of urls)
        expect.that(
          typeof url === 'string' && /^(\/|https?:\/\/)/.test(url),
          'an entry of mcp.serverUrls is a path or an http URL',
          url,
        );
    },
  },
  {
    id: 'peers/a2a-discovery',
    title: 'discovery says where the agent card of a host is',
    proves: ['PEER-2'],
    async run(context) {
      const { expect } = context;

      const { supported, agentCardUrl } = await family(context, 'a2a');

      expect.that(typeof supported === 'boolean', 'a2a.supported is a boolean', supported ?? 'nothing');
      if (supported === true) expect.string(agentCardUrl, 'a2a.agentCardUrl is a text');
    },
  },
  {
    id: 'peers/provider-policies',
    title: 'discovery says which policies for providers there are',
    proves: ['PEER-3', 'PEER-4'],
    async run(context) {
      const { expect } = context;

      const { modes, scopes, errorCode } = await family(context, 'aiProviders.policies');

      const named = expectDistinctTexts(expect, modes, 'aiProviders.policies.modes');
      for (const mode of named)
        expect.that(MODES.includes(mode), `a mode is one of ${MODES.join(', ')}`, mode);
      if (named.includes('restricted'))
        expect.that(named.includes('optional'), 'restricted comes with the mode optional', named);
      if (scopes !== undefined) expectDistinctTexts(expect, scopes, 'aiProviders.policies.scopes');
      if (errorCode !== undefined) expect.string(errorCode, 'aiProviders.policies.errorCode is a text');
    },
  },
  {
    id: 'peers/envelopes',
    title: 'the universal envelopes are among the supported ones',
    proves: ['PEER-5'],
    async run({ host, expect }) {
      const discovery = await readDiscovery({ host, expect });
      const supported = expect.array(
        advertised(discovery, 'supportedEnvelopes'),
        'supportedEnvelopes is a list',
      );
      for (const kind of UNIVERSAL_ENVELOPES)
        expect.that(supported.includes(kind), `supportedEnvelopes has ${kind}`, supported);
    },
  },
  ...ENVELOPE_CHECKS,
  ...MODEL_CHECKS,
  ...MCP_CHECKS,
  ...MCP_SERVER_CHECKS,
  ...A2A_CHECKS,
];

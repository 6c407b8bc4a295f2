import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import {
  answered,
  answeredHeader,
  dropsHeader,
  omit,
  refusal,
  replaces,
  status,
  withHeader,
} from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { counted, ignoresHeader } from '../../mutants/requests.ts';
import { DISCOVERY, OPENAPI, SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** Sets a member of a family, at the root and in the mirror alike. */
function sets(family: string, member: string, value: Json) {
  const set = (block: Json | undefined): JsonObject => ({
    ...objectOf(block),
    [member]: value,
  });
  return answered((discovery) => {
    const { capabilities } = discovery;
    const next = { ...discovery, [family]: set(discovery[family]) };
    return isJsonObject(capabilities)
      ? { ...next, capabilities: { ...capabilities, [family]: set(capabilities[family]) } }
      : next;
  });
}

const DOCUMENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'discovery/wants-a-key',
    breaks: 'discovery is refused to a caller without a key',
    caughtBy: ['discovery/required-members'],
    says: /status 200/,
    on: DISCOVERY,
    request: (request) =>
      request.headers['authorization'] === undefined ? { instead: refusal(401, 'unauthenticated') } : request,
  },
  {
    id: 'discovery/refuses-keys',
    breaks: 'discovery is refused to a caller with a key',
    caughtBy: ['discovery/with-a-key'],
    says: /status 200/,
    on: DISCOVERY,
    request: (request) =>
      request.headers['authorization'] === undefined ? request : { instead: refusal(403, 'forbidden') },
  },
  {
    id: 'discovery/no-cache-control',
    breaks: 'discovery has no Cache-Control',
    caughtBy: ['discovery/required-members'],
    says: /header cache-control/,
    on: DISCOVERY,
    answer: dropsHeader('cache-control'),
  },
  {
    id: 'discovery/version-2',
    breaks: 'the host speaks another major version',
    caughtBy: ['discovery/required-members'],
    says: /major version 1/,
    on: DISCOVERY,
    answer: replaces('protocolVersion', '2.0'),
  },
  {
    id: 'discovery/no-envelopes',
    breaks: 'supportedEnvelopes is missing',
    caughtBy: ['discovery/required-members'],
    says: /supportedEnvelopes/,
    on: DISCOVERY,
    answer: answered((discovery) => omit(discovery, 'supportedEnvelopes')),
  },
  {
    id: 'discovery/versions-as-texts',
    breaks: 'schemaVersions holds texts',
    caughtBy: ['discovery/required-members'],
    says: /schemaVersions\.event/,
    on: DISCOVERY,
    answer: replaces('schemaVersions', { event: '1' }),
  },
  {
    id: 'discovery/limit-below-0',
    breaks: 'a base limit is negative',
    caughtBy: ['discovery/required-members'],
    says: /limits\.schemaRounds/,
    on: DISCOVERY,
    answer: sets('limits', 'schemaRounds', -1),
  },
  {
    id: 'discovery/etag-ignored',
    breaks: 'If-None-Match is ignored although an ETag is sent',
    caughtBy: ['discovery/etag'],
    says: /status 304/,
    on: DISCOVERY,
    request: ignoresHeader('if-none-match'),
  },
  {
    id: 'discovery/weak-etag',
    breaks: 'the ETag of discovery is a weak one',
    caughtBy: ['discovery/etag'],
    says: /strong/,
    on: DISCOVERY,
    answer: answeredHeader('etag', 'W/"1"'),
  },
  {
    id: 'discovery/restless-etag',
    breaks: 'Capabilities-Etag is another one on every call',
    caughtBy: ['discovery/stable'],
    says: /Capabilities-Etag is the same/,
    on: DISCOVERY,
    answer: (answer, _request, memory) => {
      const calls = counted(memory, 'calls');
      return withHeader(answer, 'capabilities-etag', `"${calls}"`);
    },
  },
  {
    id: 'discovery/restless-limits',
    breaks: 'the limits change from call to call',
    caughtBy: ['discovery/stable'],
    says: /limits is the same/,
    on: DISCOVERY,
    answer: (answer, request, memory) => {
      const calls = counted(memory, 'calls');
      return sets('limits', 'maxNodeExecutions', 100 + calls)(answer, request, memory);
    },
  },
  {
    id: 'discovery/contradicting-mirror',
    breaks: 'capabilities says otherwise than the root',
    caughtBy: ['discovery/mirror'],
    says: /debugBundle\.supported/,
    on: DISCOVERY,
    answer: answered((discovery) => ({ ...discovery, capabilities: { debugBundle: { supported: false } } })),
  },
  {
    id: 'discovery/edit',
    breaks: 'an action is advertised as edit',
    caughtBy: ['discovery/no-edit'],
    says: /edit-accept/,
    on: DISCOVERY,
    answer: sets('extensions', 'acme.actions', ['accept', 'edit']),
  },
];

const BLOCK_MUTANTS: readonly Mutant[] = [
  {
    id: 'discovery/strange-transport',
    breaks: 'a transport that the protocol does not have is advertised',
    caughtBy: ['discovery/host-members'],
    says: /supportedTransports/,
    on: DISCOVERY,
    answer: replaces('supportedTransports', ['rest', 'carrier-pigeon']),
  },
  {
    id: 'discovery/body-limit-of-0',
    breaks: 'a limit of 0 bytes is advertised',
    caughtBy: ['discovery/limits'],
    says: /maxRequestBodyBytes/,
    on: DISCOVERY,
    answer: sets('limits', 'maxRequestBodyBytes', 0),
  },
  {
    id: 'discovery/short-timeout',
    breaks: 'an acknowledgement timeout of 1 s is advertised',
    caughtBy: ['discovery/acknowledgement-timeout'],
    says: /idempotencyAckTimeoutSec/,
    on: DISCOVERY,
    answer: sets('limits', 'idempotencyAckTimeoutSec', 1),
  },
  {
    id: 'discovery/supported-as-text',
    breaks: 'supported is a text',
    caughtBy: ['discovery/supported-flags'],
    says: /secrets\.supported is true or false/,
    on: DISCOVERY,
    answer: sets('secrets', 'supported', 'yes'),
  },
  {
    id: 'discovery/strange-masking',
    breaks: 'a masking mode that the protocol does not have is advertised',
    caughtBy: ['discovery/blocks'],
    says: /compliance\.defaultMode/,
    on: DISCOVERY,
    answer: sets('compliance', 'defaultMode', 'blur'),
  },
  {
    id: 'discovery/fixture-twice',
    breaks: 'a fixture is listed twice',
    caughtBy: ['discovery/fixtures-list'],
    says: /has each entry once/,
    on: DISCOVERY,
    answer: replaces('fixtures', ['conformance-noop', 'conformance-noop']),
  },
  {
    id: 'discovery/hollow-fixture',
    breaks: 'a fixture is listed that the host does not have',
    caughtBy: ['discovery/fixtures-readable'],
    says: /status 200/,
    on: DISCOVERY,
    answer: replaces('fixtures', ['conformance-noop', 'conformance-hollow']),
  },
  {
    id: 'discovery/empty-runtime-capability',
    breaks: 'a runtime capability has an empty name',
    caughtBy: ['discovery/runtime-capabilities'],
    says: /runtimeCapabilities/,
    on: DISCOVERY,
    answer: replaces('runtimeCapabilities', ['']),
  },
  {
    id: 'discovery/secrets-by-callers',
    breaks: 'secrets are not said to be host-managed',
    caughtBy: ['discovery/secrets'],
    says: /host-managed/,
    on: DISCOVERY,
    answer: replaces('secrets', { supported: true, scopes: ['user'], resolution: 'caller' }),
  },
  {
    id: 'discovery/secrets-without-scopes',
    breaks: 'secrets are supported for no scope',
    caughtBy: ['discovery/secrets'],
    says: /at least one scope/,
    on: DISCOVERY,
    answer: replaces('secrets', { supported: true, scopes: [], resolution: 'host-managed' }),
  },
  {
    id: 'discovery/key-for-no-provider',
    breaks: 'keys are taken for a provider that is not supported',
    caughtBy: ['discovery/ai-providers'],
    says: /byok is in aiProviders\.supported/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: ['acme'], byok: ['other'] }),
  },
  {
    id: 'discovery/restricted-only',
    breaks: 'the policy mode restricted is advertised without optional',
    caughtBy: ['discovery/ai-policies'],
    says: /has optional too/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: [], policies: { modes: ['restricted'] } }),
  },
  {
    id: 'discovery/strange-policy',
    breaks: 'a policy mode that the protocol does not have is advertised',
    caughtBy: ['discovery/ai-policies'],
    says: /every policy mode/,
    on: DISCOVERY,
    answer: replaces('aiProviders', { supported: [], policies: { modes: ['optional', 'maybe'] } }),
  },
  {
    id: 'discovery/mcp-nowhere',
    breaks: 'MCP is supported at no address',
    caughtBy: ['discovery/mcp-slot'],
    says: /says where/,
    on: DISCOVERY,
    answer: replaces('mcp', { supported: true }),
  },
  {
    id: 'discovery/mcp-elsewhere',
    breaks: 'MCP is said to be at something that is not an address',
    caughtBy: ['discovery/mcp-slot'],
    says: /path or an http/,
    on: DISCOVERY,
    answer: replaces('mcp', { supported: true, serverUrls: ['mcp'] }),
  },
  {
    id: 'discovery/strange-region',
    breaks: 'crossRegion has a name that the protocol does not have',
    caughtBy: ['discovery/cross-region'],
    says: /idempotency\.crossRegion/,
    on: DISCOVERY,
    answer: sets('idempotency', 'crossRegion', 'everywhere'),
  },
  {
    id: 'discovery/short-retention',
    breaks: 'answers are kept for an hour only',
    caughtBy: ['discovery/cross-region'],
    says: /layer1RetentionSeconds/,
    on: DISCOVERY,
    answer: sets('idempotency', 'layer1RetentionSeconds', 3_600),
  },
  {
    id: 'discovery/experimental-for-long',
    breaks: 'a block is experimental until a day that is past',
    caughtBy: ['discovery/experimental'],
    says: /within the next year/,
    on: DISCOVERY,
    answer: replaces('acme', { tier: 'experimental', experimentalUntil: '2024-01-31' }),
  },
  {
    id: 'discovery/scoped-nowhere',
    breaks: 'scoped discovery is said to be at something that is not a path',
    caughtBy: ['discovery/auth-scoped'],
    says: /begins with a slash/,
    on: DISCOVERY,
    answer: replaces('discovery', {
      authScoped: { supported: true, mode: 'extension-endpoint', endpointPath: 'capabilities' },
    }),
  },
  {
    id: 'discovery/anonymous-sees-more',
    breaks: 'an anonymous caller sees a member that a caller with a key does not see',
    caughtBy: ['discovery/auth-scoped'],
    says: /sees every member/,
    on: DISCOVERY,
    answer: (answer, request, memory) => {
      const scoped = { discovery: { authScoped: { supported: true } } };
      const extra = request.headers['authorization'] === undefined ? { 'acme.extra': {} } : {};
      return answered((discovery) => ({ ...discovery, ...scoped, ...extra }))(answer, request, memory);
    },
  },
  {
    id: 'discovery/hollow-tools',
    breaks: 'a tool catalogue is advertised and not served',
    caughtBy: ['discovery/advertised-routes'],
    says: /toolCatalog\.supported is advertised/,
    on: DISCOVERY,
    answer: replaces('toolCatalog', { supported: true }),
  },
  {
    id: 'discovery/hollow-bundle',
    breaks: 'debug bundles are advertised and answered with 404',
    caughtBy: ['discovery/advertised-routes'],
    says: /debugBundle\.supported is advertised/,
    on: { method: 'GET', path: /\/debug-bundle$/ },
    answer: status(200, 404),
  },
  {
    id: 'discovery/unsaid-bundle',
    breaks: 'debug bundles are served and not advertised',
    caughtBy: ['discovery/unadvertised-routes'],
    says: /status 404 or 405 or 501/,
    on: DISCOVERY,
    answer: sets('debugBundle', 'supported', false),
  },
];

const RUNTIME_MUTANTS: readonly Mutant[] = [
  {
    id: 'discovery/missing-capability-unnamed',
    breaks: 'a run fails for a missing capability without saying which',
    caughtBy: ['discovery/missing-runtime-capability'],
    says: /names the capability/,
    on: SNAPSHOT,
    answer: answered((run) =>
      run['status'] === 'failed'
        ? { ...run, error: { code: 'capability_not_provided', message: 'A capability is missing.' } }
        : run,
    ),
  },
  {
    id: 'discovery/missing-capability-ignored',
    breaks: 'a node runs although a capability that it needs is missing',
    caughtBy: ['discovery/missing-runtime-capability'],
    says: /needs a missing capability fails/,
    on: SNAPSHOT,
    answer: answered((run) => (run['status'] === 'failed' ? { ...run, status: 'completed' } : run)),
  },
];

const OPENAPI_MUTANTS: readonly Mutant[] = [
  {
    id: 'discovery/old-openapi',
    breaks: 'the description is of OpenAPI 3.0',
    caughtBy: ['discovery/openapi'],
    says: /OpenAPI 3\.1/,
    on: OPENAPI,
    answer: replaces('openapi', '3.0.3'),
  },
  {
    id: 'discovery/v1-twice',
    breaks: 'servers and paths of the description both have /v1',
    caughtBy: ['discovery/openapi'],
    says: /repeat the \/v1/,
    on: OPENAPI,
    answer: replaces('servers', [{ url: 'https://api.example.com/v1' }]),
  },
  {
    id: 'discovery/dead-reference',
    breaks: 'a reference in the description leads nowhere',
    caughtBy: ['discovery/openapi'],
    says: /leads somewhere/,
    on: OPENAPI,
    answer: answered((document) => ({
      ...document,
      'x-acme': { $ref: '#/components/schemas/DoesNotExist' },
    })),
  },
];

export const DISCOVERY_MUTANTS: readonly Mutant[] = [
  ...DOCUMENT_MUTANTS,
  ...BLOCK_MUTANTS,
  ...RUNTIME_MUTANTS,
  ...OPENAPI_MUTANTS,
];

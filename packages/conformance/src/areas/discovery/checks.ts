import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Expectations } from '../../suite/expectations.ts';
import { ADVERTISEMENT_CHECKS } from './advertisement.ts';
import { BLOCK_CHECKS } from './blocks.ts';
import { askDiscovery, readDiscovery } from './document.ts';
import { OPENAPI_CHECKS } from './openapi.ts';
import { PROFILE_CHECKS } from './profiles.ts';

const BASE_LIMITS = ['clarificationRounds', 'schemaRounds', 'envelopesPerTurn'];
/** What clients decide on before their first run. */
const NEGOTIATED = [
  'protocolVersion',
  'supportedEnvelopes',
  'schemaVersions',
  'limits',
  'supportedTransports',
];

const DOCUMENT_CHECKS: readonly Check[] = [
  {
    id: 'discovery/required-members',
    title: 'anyone can read the discovery document, and its required members are there',
    proves: ['DISC-1', 'DISC-3', 'DISC-4', 'DISC-5', 'DISC-6', 'DISC-7'],
    async run({ host, expect }) {
      const answer = await askDiscovery({ host });

      expect.status(answer, 200);
      const type = expect.header(answer, 'content-type');
      expect.that(/^application\/json\b/i.test(type), 'discovery is sent as application/json', type);
      expect.header(answer, 'cache-control');
      expectRequiredMembers(expect, answer.json);
    },
  },
  {
    id: 'discovery/with-a-key',
    title: 'a caller with a key can read discovery too',
    proves: ['DISC-2'],
    async run({ host, expect }) {
      const answer = await askDiscovery({ host }, {});

      expect.status(answer, 200);
      expectRequiredMembers(expect, answer.json);
    },
  },
  {
    id: 'discovery/etag',
    title: 'a discovery answer with an ETag is not sent again to a reader who has it',
    proves: ['DISC-9'],
    async run({ host, expect }) {
      const first = await askDiscovery({ host });
      expect.status(first, 200);
      const etag = first.headers.get('etag');
      if (etag === null) return;

      expect.that(/^"[^"]*"$/.test(etag), 'the ETag of discovery is a strong one', etag);
      const again = await askDiscovery({ host }, { key: null, headers: { 'if-none-match': etag } });
      expect.status(again, 304);
      expect.equal(again.text, '', 'an answer with 304 has no body');
      const other = await askDiscovery({ host }, { key: null, headers: { 'if-none-match': '"weft-other"' } });
      expect.status(other, 200);
    },
  },
  {
    id: 'discovery/stable',
    title: 'two reads of discovery say the same',
    proves: ['DISC-10', 'DISC-14'],
    async run({ host, expect }) {
      const first = await askDiscovery({ host });
      const second = await askDiscovery({ host });

      expect.status(first, 200);
      expect.status(second, 200);
      const before = expect.object(first.json, 'discovery is answered with a JSON object');
      const after = expect.object(second.json, 'discovery is answered with a JSON object');
      for (const name of NEGOTIATED)
        expect.equal(after[name], before[name], `${name} is the same on two reads of discovery`);
      const etags = [first, second].map(({ headers }) => headers.get('capabilities-etag'));
      expect.that(etags[0] !== '', 'a Capabilities-Etag is not empty', etags[0]);
      expect.equal(etags[1], etags[0], 'the Capabilities-Etag is the same on two reads of discovery');
    },
  },
  {
    id: 'discovery/mirror',
    title: 'a capabilities object does not contradict the families at the root',
    proves: ['DISC-13'],
    async run(context: CheckContext) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const { capabilities } = discovery;
      if (capabilities === undefined) return;

      const mirror = expect.object(capabilities, 'capabilities is an object');
      expect.equal(
        contradictions(discovery, mirror),
        [],
        'what stands under capabilities is what stands at the root',
      );
    },
  },
  {
    id: 'discovery/no-edit',
    title: 'no action is called "edit" in discovery',
    proves: ['DISC-29'],
    async run({ host, expect }) {
      const answer = await askDiscovery({ host });

      expect.status(answer, 200);
      expect.object(answer.json, 'discovery is answered with a JSON object');
      expect.that(
        !answer.text.includes('"edit"'),
        'the text "edit" stands nowhere in discovery (the action is edit-accept)',
      );
    },
  },
];

export const DISCOVERY_CHECKS: readonly Check[] = [
  ...DOCUMENT_CHECKS,
  ...BLOCK_CHECKS,
  ...ADVERTISEMENT_CHECKS,
  ...OPENAPI_CHECKS,
  ...PROFILE_CHECKS,
];

function expectRequiredMembers(expect: Expectations, body: Json | undefined): void {
  const discovery = expect.object(body, 'discovery is answered with a JSON object');
  const version = expect.string(discovery['protocolVersion'], 'discovery has protocolVersion');
  expect.that(version.startsWith('1.'), 'protocolVersion is of major version 1', version, '1.…');
  const envelopes = expect.array(
    discovery['supportedEnvelopes'],
    'discovery has the list supportedEnvelopes',
  );
  for (const kind of envelopes) expect.string(kind, 'a supported envelope is a text');
  const versions = expect.object(discovery['schemaVersions'], 'discovery has schemaVersions');
  for (const [name, value] of Object.entries(versions))
    expectCount(expect, value, `schemaVersions.${name} is a whole number of 0 or more`);
  const limits = expect.object(discovery['limits'], 'discovery has limits');
  for (const name of BASE_LIMITS)
    expectCount(expect, limits[name], `limits.${name} is a whole number of 0 or more`);
}

function expectCount(expect: Expectations, value: Json | undefined, claim: string): void {
  const number = expect.integer(value, claim);
  expect.that(number >= 0, claim, number);
}

/** Members that stand in both, with different values, by their paths. */
function contradictions(root: JsonObject, mirror: JsonObject, path = ''): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(mirror)) {
    const own = root[name];
    if (own === undefined) continue;
    if (isJsonObject(own) && isJsonObject(value))
      found.push(...contradictions(own, value, `${path}${name}.`));
    else if (canonicalJson(own) !== canonicalJson(value)) found.push(`${path}${name}`);
  }
  return found;
}

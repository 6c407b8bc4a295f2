import type { Json, JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectsOf } from '../../suite/json-shapes.ts';
import { archiveOf, type Entry, manifestOf } from './archives.ts';
import { expectRefused, namespaceOf, publish, type Refused } from './publishing.ts';

/** Packs that bring agents and no code. */

const VERSION = '1.0.0';
const MOST_PAGES = 100;

function staffed(name: string, agents: readonly JsonObject[], files: readonly Entry[] = []): Uint8Array {
  const { nodes: _nodes, ...manifest } = manifestOf(name, VERSION, {
    runtime: { language: 'remote', entry: 'agents' },
    agents: [...agents],
  });
  return archiveOf(manifest, files);
}

function agentOf(name: string, change: JsonObject = {}): JsonObject {
  return {
    agentId: `${name}.sorter`,
    persona: 'Sorter',
    modelClass: 'general',
    systemPrompt: 'Sort what comes in.',
    ...change,
  };
}

const withAgent =
  (change: JsonObject, ...files: Entry[]) =>
  (name: string) =>
    staffed(name, [agentOf(name, change)], files);
const LACKING = ['schema_ref_missing', 'invalid_manifest', 'tarball_entry_missing'];

/** By the word that the pack is named with; each agent is right but for one thing. */
export const REFUSED_AGENTS: Readonly<Record<string, Refused>> = {
  foreign: { codes: ['invalid_manifest'], body: withAgent({ agentId: 'vendor.another.pack.sorter' }) },
  twin: {
    codes: ['invalid_manifest'],
    body: (name) => staffed(name, [agentOf(name), agentOf(name, { persona: 'Another' })]),
  },
  torn: {
    codes: ['invalid_manifest'],
    body: withAgent({ systemPromptRef: 'prompts/a.md' }, { name: 'prompts/a.md', data: 'Sort.' }),
  },
  speechless: {
    codes: ['invalid_manifest'],
    body: (name) => {
      const { systemPrompt: _prompt, ...agent } = agentOf(name);
      return staffed(name, [agent]);
    },
  },
  lost: {
    codes: LACKING,
    body: (name) => {
      const { systemPrompt: _prompt, ...agent } = agentOf(name, { systemPromptRef: 'prompts/none.md' });
      return staffed(name, [agent]);
    },
  },
  unclassed: { codes: ['invalid_manifest'], body: withAgent({ modelClass: 'omniscient' }) },
  wide: { codes: ['invalid_manifest'], body: withAgent({ temperature: 1 }) },
  unfit: { codes: LACKING, body: withAgent({ handoff: { taskSchemaRef: 'schemas/none.json' } }) },
  shapeless: {
    codes: LACKING,
    body: withAgent(
      { handoff: { returnSchemaRef: 'schemas/a.json' } },
      { name: 'schemas/a.json', data: '{"type":"no type"}' },
    ),
  },
};

/** A pack as the list of all packs shows it. */
async function listed(context: CheckContext, name: string): Promise<JsonObject | undefined> {
  const { host, expect, notApplicable } = context;
  let cursor: Json | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = typeof cursor === 'string' ? `?cursor=${encodeURIComponent(cursor)}` : '';
    const answer = await host.request('GET', `/v1/packs${query}`);
    if (answer.status === 404 || answer.status === 501) return notApplicable('it does not list its packs');
    expect.status(answer, 200);
    const body = expect.object(answer.json, 'the list of packs is in an object');
    const found = objectsOf(expect.array(body['packs'], 'packs is a list')).find(
      (pack) => pack['name'] === name,
    );
    cursor = body['nextCursor'];
    if (found !== undefined || cursor === undefined) return found;
  }
  return undefined;
}

export const PACK_AGENT_CHECKS: readonly Check[] = [
  {
    id: 'packs/refused-agents',
    title: 'a pack is refused with an agent that is not whole, or not its own',
    proves: ['AGENT-21'],
    async run(context) {
      await expectRefused(context, await namespaceOf(context), REFUSED_AGENTS);
    },
  },
  {
    id: 'packs/listed-agents',
    title: 'a pack that brings agents is listed with them',
    proves: ['PACK-13'],
    async run(context) {
      const { host, expect } = context;
      const name = `${await namespaceOf(context)}.staff`;
      expect.status(await publish(context, name, staffed(name, [agentOf(name)])), 201);
      try {
        const pack = expect.object(await listed(context, name), 'a pack that was published is listed');
        const [agent] = expect.array(pack['agents'], 'a pack that brings agents is listed with agents');
        const { agentId } = expect.object(agent, 'an agent of a listed pack is an object');
        expect.equal(agentId, `${name}.sorter`, 'a listed agent has the agentId of its manifest');
      } finally {
        await host.request('DELETE', `/v1/packs/${name}/-/${VERSION}`);
      }
    },
  },
  {
    id: 'packs/exported-agents',
    title: 'agents that are exported are exported as manifests',
    proves: ['PACK-14'],
    async run({ host, expect, notApplicable }) {
      const answer = await host.request('GET', '/v1/packs/export');
      if (answer.status === 404 || answer.status === 501) return notApplicable('it exports no agents');
      expect.status(answer, 200);
      const body = expect.object(answer.json, 'an export is an object');
      const manifests = expect.array(body['manifests'], 'manifests is a list');
      expect.that(manifests.length > 0, 'an export has manifests');
      for (const each of manifests) {
        const manifest = expect.object(each, 'a manifest is an object');
        for (const member of ['agentId', 'persona', 'modelClass'])
          expect.string(manifest[member], `a manifest of an agent has ${member}`);
      }
    },
  },
];

import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { refusal } from '../testing/refusal.ts';
import { archiveOf, FILES, MANIFEST, OFFER } from '../testing/sample-packs.ts';
import { agentsOf } from './agents.ts';
import { openTrustedPack } from './open-pack.ts';
import { type HostOffer, unmetOptional } from './requirements.ts';

const AGENT: JsonObject = {
  agentId: 'vendor.acme.hello.triage',
  persona: 'Triage',
  modelClass: 'classification',
  systemPromptRef: 'prompts/triage.md',
  toolAllowlist: ['mcp:tickets/read_*'],
  memoryShape: { scratchpad: true },
  confidence: { defaultThreshold: 0.8 },
  handoff: { taskSchemaRef: 'schemas/task.json', returnSchemaRef: 'schemas/return.json' },
};

const AGENT_FILES = {
  'prompts/triage.md': 'Sort what comes in.',
  'schemas/task.json': '{"type":"object","required":["subject"]}',
  'schemas/return.json': '{"enum":["bug","question"]}',
};

const { nodes: _nodes, ...WITHOUT_NODES } = MANIFEST;
const PURE: JsonObject = { ...WITHOUT_NODES, runtime: { language: 'remote', entry: 'none' } };
const HOST: HostOffer = { ...OFFER, capabilities: { agents: { modelClasses: ['classification'] } } };
const OPEN = { mode: 'open', allow: [], keys: [] } as const;

function open(
  manifest: JsonObject,
  files: Readonly<Record<string, string | Uint8Array>> = AGENT_FILES,
  offer: HostOffer = HOST,
) {
  return openTrustedPack({ archive: archiveOf(manifest, files) }, OPEN, offer, 0, 'install');
}

const agent = (change: JsonObject = {}): JsonObject => ({ ...PURE, agents: [{ ...AGENT, ...change }] });

describe('a pack of agents', () => {
  it('needs no code, and gives each agent with its prompt and schemas', async () => {
    const { manifest, files } = await open(agent());

    expect(manifest.nodes).toEqual([]);
    expect(agentsOf(manifest, files)).toEqual([
      {
        manifest: AGENT,
        systemPrompt: 'Sort what comes in.',
        taskSchema: { type: 'object', required: ['subject'] },
        returnSchema: { enum: ['bug', 'question'] },
      },
    ]);
  });

  it('may have nodes, too', async () => {
    const both = await open({ ...MANIFEST, agents: [AGENT] }, { ...FILES, ...AGENT_FILES });

    expect([both.manifest.nodes.length, both.manifest.agents?.length]).toEqual([1, 1]);
  });

  it.each<[string, JsonObject, string]>([
    ['invalid_manifest', { agentId: 'vendor.other.pack.triage' }, 'agents.0.agentId'],
    ['invalid_manifest', { agentId: 'vendor.acme.hello.a.b' }, 'vendor.acme.hello.NAME'],
    ['invalid_manifest', { agentId: 'vendor.acme.hellotriage' }, 'agents.0.agentId'],
    ['invalid_manifest', { persona: 'Tri\u001b[2Jage' }, 'agents.0.persona'],
    ['invalid_manifest', { label: 'a\u202eb' }, 'agents.0.label'],
    ['invalid_manifest', { modelClass: 'telepathy' }, 'agents.0.modelClass'],
    ['invalid_manifest', { systemPrompt: 'Both.' }, 'not both'],
    ['invalid_manifest', { mood: 'good' }, 'mood'],
    ['invalid_manifest', { toolAllowlist: ['everything'] }, 'agents.0.toolAllowlist.0'],
    ['invalid_manifest', { toolAllowlist: ['mcp:a/b', 'mcp:a/b'] }, 'toolAllowlist'],
    ['invalid_manifest', { confidence: { defaultThreshold: 2 } }, 'defaultThreshold'],
    ['invalid_manifest', { systemPromptRef: 'prompts/none.md' }, 'not in the pack'],
    ['invalid_manifest', { systemPromptRef: '../../etc/passwd' }, 'not in the pack'],
    ['invalid_manifest', { systemPromptRef: '/etc/passwd' }, 'not in the pack'],
    ['invalid_manifest', { systemPromptRef: 'prompts/latin.md' }, 'not UTF-8'],
    ['invalid_manifest', { systemPromptRef: 'prompts/long.md' }, '65537 characters'],
    ['invalid_manifest', { systemPromptRef: 'prompts/empty.md' }, '2 characters'],
    ['schema_ref_missing', { handoff: { taskSchemaRef: 'schemas/none.json' } }, 'handoff.taskSchemaRef'],
    ['schema_ref_missing', { handoff: { returnSchemaRef: 'schemas/large.json' } }, 'cannot be used'],
    ['schema_ref_missing', { handoff: { returnSchemaRef: 'schemas/remote.json' } }, 'JSON Pointer'],
    ['schema_ref_missing', { handoff: { returnSchemaRef: 'prompts/triage.md' } }, 'cannot be read'],
    ['unsupported_capability', { toolAllowlist: ['openwop:fs.read'] }, 'tools of mcp alone'],
    ['unsupported_model_class', { modelClass: 'coding' }, 'models.classes'],
  ])('is refused with %s: %j', async (code, change, words) => {
    const files = {
      ...AGENT_FILES,
      'prompts/latin.md': Uint8Array.of(0xff, 0x41),
      'prompts/long.md': 'x'.repeat(65_537),
      'prompts/empty.md': ' \n',
      'schemas/large.json': JSON.stringify({ enum: ['x'.repeat(70_000)] }),
      'schemas/remote.json': '{"$ref":"https://evil.example/s.json"}',
    };
    const refused = await refusal(() => open(agent(change), files));

    expect(refused.code).toBe(code);
    expect(refused.message).toContain(words);
  });

  it('is refused when it has nothing in it, or an agent twice', async () => {
    expect((await refusal(() => open({ ...PURE, agents: [] }))).message).toContain('nodes, agents, or both');
    expect((await refusal(() => open({ ...PURE, agents: [AGENT, AGENT] }))).message).toContain('twice');
  });

  it('can do without a capability that it calls optional, and says which', async () => {
    const wants = { ...agent(), peerDependencies: { 'agents.manifestRuntime': 'supported' } };
    const { manifest } = await open({
      ...wants,
      peerDependenciesMeta: { 'agents.manifestRuntime': { optional: true } },
    });

    expect(unmetOptional(manifest, HOST.capabilities ?? {})).toEqual(['agents.manifestRuntime']);
    expect((await refusal(() => open(wants))).code).toBe('pack_peer_dependency_missing');
  });
});

import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { Value } from 'typebox/value';
import { type NodeResult, type NodeType, NodeFailure } from '../model/node-type.ts';
import { CONFORMANCE_ONLY } from '../conformance/index.ts';
import { BUILTIN_NODE_TYPES } from './index.ts';
import { sampleEffect } from './testing/sample-effect-context.ts';
import { sampleInput, type Sample } from './testing/sample-node-input.ts';

/** One small use of every node type; `gives` is what it outputs, or the code it fails with. */
const EXAMPLES: Readonly<Record<string, Sample & { gives: JsonObject | string | null }>> = {
  'conformance.cost.emit': { config: { attrs: { 'openwop.cost.usd': 1 } }, gives: {} },
  'conformance.requiresMissing': { gives: 'capability_not_provided' },
  'conformance.secret.echo': { config: { secretId: 'not-set' }, gives: 'credential_unavailable' },
  'core.ai.callPrompt': { config: { prompt: 'Hello?' }, gives: { steps: ['turn-1'] } },
  'core.conformance.hold': { inputs: { delayMs: 5, kept: true }, gives: { delayMs: 5, kept: true } },
  'core.conformance.side-effect': { gives: { effectId: 'invocation-1', output: 'invocation-1' } },
  'core.conformance.mock-agent': { config: { mockReasoning: true }, gives: {} },
  'core.conversationGate': {
    config: { prompt: 'How was it?' },
    gives: { conversationId: 'sample', prompt: 'How was it?' },
  },
  'core.dispatch': {
    config: { inputMapping: { a: 'b' } },
    variables: { b: 1 },
    decision: { kind: 'next-worker', nextWorkerIds: ['w'] },
    gives: { workflowId: 'w', inputs: { a: 1 } },
  },
  'core.orchestrator.supervisor': {
    config: { decide: "visit == 0 ? {'kind': 'ask-user', 'prompt': 'Continue?'} : {'kind': 'terminate'}" },
    visit: 1,
    gives: { decision: { kind: 'terminate' }, output: { kind: 'terminate' } },
  },
  'core.subWorkflow': {
    config: { workflowId: 'child', inputMapping: { a: 'b', c: 'missing' } },
    variables: { b: 1 },
    gives: { workflowId: 'child', inputs: { a: 1 } },
  },
  'weft.channel.read': { config: { channelName: 'c' }, channels: { c: [1] }, gives: { output: [1] } },
  'core.conditional': {
    config: { condition: 'inputs.input == 1' },
    inputs: { input: 1 },
    gives: { true: 1 },
  },
  'core.approvalGate': {
    config: { title: 'Ship it?', timeoutMs: 5 },
    gives: {
      artifactId: 'sample',
      artifactType: 'approval',
      title: 'Ship it?',
      actions: ['accept', 'reject'],
    },
  },
  'core.channelWrite': { config: { channelName: 'c', value: 1 }, gives: { output: 1 } },
  'core.clarificationGate': {
    config: { questions: [{ id: 'q', question: 'Which?' }] },
    gives: { questions: [{ id: 'q', question: 'Which?' }] },
  },
  'core.interrupt': {
    config: { kind: 'external-event', data: { eventType: 'paid', correlation: { order: 1 } } },
    gives: { eventType: 'paid', correlation: { order: 1 } },
  },
  'core.delay': { config: { ms: 5 }, gives: { delayMs: 5 } },
  'core.end': { inputs: { input: 1 }, gives: { input: 1, output: 1 } },
  'core.fail': { gives: 'conformance_test_failure' },
  'core.getVariable': { config: { name: 'n' }, variables: { n: 1 }, gives: { output: 1 } },
  'core.http.request': {
    config: { url: 'https://api.example/', method: 'POST', body: { a: 1 }, expectStatus: [200, 404] },
    gives: { status: 200, headers: {}, body: 'hi', output: 'hi' },
  },
  'core.identity': { inputs: { a: 1 }, gives: { a: 1 } },
  'core.a2a.invoke': { config: { skill: 'echo' }, gives: { steps: ['card'] } },
  'core.mcp.toolCall': {
    config: { serverId: 'files', toolName: 'read_text_file', arguments: { path: '/srv/note.txt' } },
    gives: { steps: ['look'] },
  },
  'core.loop': { config: { body: ['work'], items: 'inputs.list', maxIterations: 3 }, gives: null },
  'core.merge': { inputs: { a: 1 }, gives: { a: 1, output: { a: 1 } } },
  'core.noop': { gives: {} },
  'core.parallel': { inputs: { input: 1 }, gives: { output: 1 } },
  'core.setVariable': { config: { name: 'n', value: 1 }, gives: { output: 1 } },
  'core.start': { inputs: { a: 1 }, gives: { a: 1, output: { a: 1 } } },
  'weft.ai.agent': {
    config: { instructions: 'Be brief.', prompt: 'Which files are there?', tools: ['mcp:files/*'] },
    gives: { steps: ['tools'] },
  },
  'weft.memory.list': { config: { memoryRef: 'notes', limit: 5, tag: 't' }, gives: { count: 0, output: [] } },
  'weft.memory.write': {
    config: { memoryRef: 'notes', content: 'x', tags: ['t'], ttlMs: 1000 },
    gives: { memoryId: 'invocation-1', memoryRef: 'notes', output: 'invocation-1' },
  },
};

async function perform(type: NodeType, sample: Sample): Promise<JsonObject | string | null> {
  const input = sampleInput(type, sample);
  try {
    switch (type.kind) {
      case 'pure':
        return type.run(input).outputs;
      case 'timer':
        return type.finish(input).outputs;
      case 'effect': {
        const result: NodeResult = await type.perform(input, sampleEffect().context);
        return result.outputs;
      }
      case 'steps': {
        const next = type.next(input, []);
        return 'steps' in next ? { steps: next.steps.map(({ id }) => id) } : null;
      }
      case 'loop':
        return null; // the core iterates
      case 'interrupt':
        return type.ask(input).data;
      case 'children': {
        const next = type.next(input, 0);
        return 'child' in next
          ? { workflowId: next.child.workflowId, inputs: next.child.inputs }
          : next.outputs;
      }
    }
  } catch (error) {
    if (error instanceof NodeFailure) return error.code;
    throw error;
  }
}

const TYPES = [...BUILTIN_NODE_TYPES, ...CONFORMANCE_ONLY].toSorted((a, b) => (a.typeId < b.typeId ? -1 : 1));

describe('the built-in node types', () => {
  it('have unique ids in alphabetical order', () => {
    const ids = BUILTIN_NODE_TYPES.map((type) => type.typeId);

    expect(ids).toEqual([...new Set(ids)].toSorted());
  });

  it('each have an example', () => {
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(TYPES.map((type) => type.typeId));
  });

  it.each(TYPES.map((type) => [type.typeId, type] as const))('%s is complete', async (typeId, type) => {
    const { gives, ...sample } = EXAMPLES[typeId] ?? { gives: null };

    expect(type.typeId).toMatch(/^[a-z][a-zA-Z0-9._-]*$/);
    expect(type.title).not.toBe('');
    expect(type.summary).toMatch(/^[A-Z].*\.$/);
    expect(type.config).toMatchObject({ type: 'object', additionalProperties: false });
    expect(Value.Check(type.config, sample.config ?? {})).toBe(true);
    expect(Value.Check(type.config, { ...sample.config, noSuchKey: 1 })).toBe(false);
    expect(await perform(type, sample)).toEqual(gives);
  });
});

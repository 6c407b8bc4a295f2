import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../crypto/hash.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { EffectInput, EffectNodeType } from '../../model/node-type.ts';
import { httpRequestNode } from '../http/http-request.ts';
import { memoryListNode } from './memory-list.ts';
import { memoryProbe } from '../../conformance/memory-probe.ts';
import { memoryWriteNode } from './memory-write.ts';
import { type SampleEffectOptions, sampleEffect } from '../testing/sample-effect-context.ts';
import { secretEchoNode } from '../../conformance/secret-echo.ts';
import { NO_STREAMS } from '../../runtime/testing/no-streams.ts';

const VALUE = 'sesame-open-now';

function perform(
  type: EffectNodeType,
  input: Partial<EffectInput> & { config: JsonObject },
  options: SampleEffectOptions = {},
) {
  return type.perform(
    { nodeId: 'node', prepared: undefined, inputs: {}, configurable: {}, ...input },
    sampleEffect(options).context,
  );
}

describe('conformance.secret.echo', () => {
  it('tells hash and length of the secret, as outputs and in a variable of its own name', async () => {
    const digest = { secretSha256: sha256Hex(VALUE), secretLength: VALUE.length };

    const result = await perform(secretEchoNode, { config: { secretId: 'k' } }, { secrets: { k: VALUE } });

    expect(result).toEqual({ outputs: digest, variables: { node: digest } });
  });

  it('fails when there is no such secret, and without config.secretId', async () => {
    await expect(perform(secretEchoNode, { config: { secretId: 'k' } })).rejects.toMatchObject({
      code: 'credential_unavailable',
    });
    await expect(perform(secretEchoNode, { config: {} })).rejects.toMatchObject({ code: 'validation_error' });
  });
});

describe('the memory nodes', () => {
  it('read what they wrote, and the event holds no content', async () => {
    const store = openMemoryStore();
    const agent = { agentId: 'agent-1', memoryRef: 'agents/one' };

    const written = await perform(
      memoryWriteNode,
      { config: { tags: ['t'] }, inputs: { content: { likes: 'tea' } }, agent },
      { store },
    );
    const listed = await perform(
      memoryListNode,
      { config: { memoryRef: 'agents/one', tag: 't' } },
      { store },
    );

    expect(written).toEqual({
      outputs: { memoryId: 'invocation-1', memoryRef: 'agents/one', output: 'invocation-1' },
      events: [
        {
          type: 'memory.written',
          payload: {
            memoryRef: 'agents/one',
            memoryId: 'invocation-1',
            nodeId: 'node',
            agentId: 'agent-1',
            tags: ['t'],
          },
        },
      ],
    });
    expect(listed.outputs).toMatchObject({ count: 1, output: [{ content: '{"likes":"tea"}', tags: ['t'] }] });
  });

  it('say what is missing', async () => {
    await expect(perform(memoryListNode, { config: {} })).rejects.toMatchObject({
      details: { field: 'memoryRef' },
    });
    await expect(perform(memoryWriteNode, { config: { memoryRef: 'm' } })).rejects.toMatchObject({
      details: { field: 'content' },
    });
  });
});

describe('the memory probe', () => {
  const agent = { agentId: 'agent-1', memoryRef: 'conformance/memory' };

  it('reads back what it wrote', async () => {
    const result = await perform(memoryProbe, {
      config: { memoryAction: 'write-then-read' },
      inputs: { a: 1 },
      agent,
    });

    expect(result.outputs).toEqual({ a: 1 });
    expect(result.variables).toEqual({
      memoryReadback: {
        id: expect.any(String),
        content: expect.any(String),
        tags: ['probe'],
        createdAt: expect.any(String),
      },
    });
    expect(result.events).toMatchObject([
      { type: 'memory.written', payload: { memoryRef: 'conformance/memory', agentId: 'agent-1' } },
    ]);
  });

  it('finds a mark where the secret stood', async () => {
    const result = await perform(
      memoryProbe,
      { config: { memoryAction: 'redaction-probe', byokSecretId: 'k' }, agent },
      { secrets: { k: VALUE } },
    );

    expect(result.variables).toMatchObject({
      memoryReadback: { content: 'the key is [REDACTED:k], as agreed' },
    });
  });

  it('does not see the entry that has expired', async () => {
    const result = await perform(memoryProbe, { config: { memoryAction: 'ttl-probe' }, agent });

    expect(result.variables).toMatchObject({ memoryList: [{ content: 'this one has not' }] });
    expect(result.events).toHaveLength(2);
  });

  it('sees nothing of another tenant', async () => {
    const store = openMemoryStore();
    await perform(
      memoryWriteNode,
      { config: { memoryRef: 'theirs', content: 'x' } },
      {
        store,
        place: { tenant: 'them' },
      },
    );

    const result = await perform(
      memoryProbe,
      { config: { memoryAction: 'cross-tenant-probe', probeMemoryRef: 'theirs' } },
      { store },
    );

    expect(result).toEqual({ outputs: {}, variables: { crossTenantProbe: [] }, events: [] });
  });
});

describe('core.http.request with saveAs', () => {
  it('keeps the body as an artifact and outputs the reference', async () => {
    const config = { url: 'https://api.example/', saveAs: { name: 'page.html' } };
    const egress = {
      fetch: async () => ({
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: new TextEncoder().encode('<p>'),
      }),
    };

    const result = await perform(httpRequestNode, { config }, { egress: { ...NO_STREAMS, ...egress } });

    const artifact = {
      artifactId: 'sample:0:page.html',
      mediaType: 'text/html',
      size: 3,
      digest: sha256Hex('<p>'),
    };
    expect(result).toEqual({
      outputs: { status: 200, headers: { 'content-type': 'text/html' }, artifact, output: artifact },
      events: [
        {
          type: 'artifact.created',
          payload: { artifactId: 'sample:0:page.html', artifactType: 'text/html', nodeId: 'node' },
        },
      ],
    });
  });
});

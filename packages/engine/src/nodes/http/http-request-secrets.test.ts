import type { JsonObject } from '@weft/protocol';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import type { Egress, EgressRequest } from '../../model/node-type.ts';
import { httpRequestNode } from './http-request.ts';
import { sampleEffect } from '../testing/sample-effect-context.ts';
import { sampleInput } from '../testing/sample-node-input.ts';
import { NO_STREAMS } from '../../runtime/testing/no-streams.ts';

const url = 'https://api.example/x';
const refusal = (config: JsonObject) => () => sampleInput(httpRequestNode, { config: { url, ...config } });

/** The request that reaches the receiver. */
async function sent(
  config: JsonObject,
  credentialsRef?: string,
  inputs: JsonObject = {},
): Promise<EgressRequest | undefined> {
  const requests: EgressRequest[] = [];
  const egress: Egress = {
    ...NO_STREAMS,
    async fetch(outgoing) {
      requests.push(outgoing);
      return { status: 200, headers: {}, body: new Uint8Array() };
    },
  };
  const { context } = sampleEffect({ egress, secrets: { one: 'value-of-one', two: 'value-of-two' } });
  const input = sampleInput(httpRequestNode, { config: { url, ...config }, inputs });
  await httpRequestNode.perform(
    { ...input, ...(credentialsRef !== undefined && { credentialsRef }) },
    context,
  );
  return requests[0];
}

describe('the secrets of core.http.request', () => {
  it('are put into the headers that name them, after the prefix', async () => {
    const request = await sent({
      secretHeaders: { 'X-Key': 'one', 'X-Other': { secretId: 'two', prefix: 'v1 ' } },
    });

    expect(request?.headers).toMatchObject({ 'x-key': 'value-of-one', 'x-other': 'v1 value-of-two' });
  });

  it('go out as a bearer token for credentialsRef, unless a secret header says otherwise (R-12)', async () => {
    const bearer = await sent({}, 'one');
    const basic = await sent(
      { secretHeaders: { Authorization: { secretId: 'two', prefix: 'Basic ' } } },
      'one',
    );

    expect(bearer?.headers['authorization']).toBe('Bearer value-of-one');
    expect(basic?.headers['authorization']).toBe('Basic value-of-two');
  });

  it('cannot be replaced by what is connected to the headers port (R-12)', async () => {
    const request = await sent({ secretHeaders: { 'X-Key': 'one' } }, 'two', {
      headers: { 'x-key': 'mine', authorization: 'mine' },
    });

    expect(request?.headers).toMatchObject({ 'x-key': 'value-of-one', authorization: 'Bearer value-of-two' });
  });

  it('are not taken along by redirects, except as Authorization, which the egress drops itself (R-13)', async () => {
    expect((await sent({ secretHeaders: { 'X-Key': 'one' } }))?.followRedirects).toBe(false);
    expect((await sent({ secretHeaders: { Authorization: 'one' } }))?.followRedirects).toBe(true);
    expect((await sent({}, 'one'))?.followRedirects).toBe(true);
  });

  it('are required under their ids, each once', () => {
    const secretHeaders = { A: 'one', B: { secretId: 'one' }, C: 'two' };

    expect(httpRequestNode.requiresSecrets?.({ secretHeaders })).toEqual(['one', 'two']);
    expect(httpRequestNode.requiresSecrets?.({})).toEqual([]);
  });

  it('refuse headers that the host owns, that stand there twice, and redirects that could leak them', () => {
    expect(refusal({ secretHeaders: { Host: 'one' } })).toThrow(
      /^\/secretHeaders: "host" is set by the host/,
    );
    expect(refusal({ secretHeaders: { 'x-a': 'one' }, headers: { 'X-A': '1' } })).toThrow(/headers too/);
    expect(refusal({ secretHeaders: { 'x-a': 'one', 'X-A': 'one' } })).toThrow(/twice/);
    expect(refusal({ secretHeaders: { 'x-a': 'one' }, followRedirects: true })).toThrow(
      /^\/followRedirects: /,
    );
  });

  it.each<JsonObject>([
    { secretHeaders: { 'a b': 'one' } },
    { secretHeaders: { a: 'not an id' } },
    { secretHeaders: { a: {} } },
    { secretHeaders: { a: { secretId: 'one', suffix: 'x' } } },
  ])('do not fit their schema: %j', (config) => {
    expect(Value.Check(httpRequestNode.config, { url, ...config })).toBe(false);
  });
});

import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OtlpCollector, startOtlpCollector } from './otlp-collector.ts';

const HEX_TRACE = '0123456789abcdef0123456789abcdef';
const HEX_SPAN = '0123456789abcdef';

let collector: OtlpCollector;
beforeEach(async () => {
  collector = await startOtlpCollector(0);
});
afterEach(() => collector.stop());

function post(body: string | Buffer, headers: Record<string, string> = {}, path = '/v1/traces') {
  return fetch(`http://${collector.address}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function traces(...spans: object[]): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

function span(rest: object = {}) {
  return {
    name: 'openwop.run',
    traceId: HEX_TRACE,
    spanId: HEX_SPAN,
    attributes: [{ key: 'openwop.run_id', value: { stringValue: 'r1' } }],
    ...rest,
  };
}

describe('the collector of traces', () => {
  it('finds the spans of a run by their attribute', async () => {
    const answer = await post(traces(span(), span({ attributes: [] })));

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({});
    expect(collector.spansOf('r1')).toEqual([
      {
        name: 'openwop.run',
        traceId: HEX_TRACE,
        spanId: HEX_SPAN,
        parentSpanId: undefined,
        attributes: { 'openwop.run_id': 'r1' },
      },
    ]);
    expect(collector.spansOf('r2')).toEqual([]);
  });

  it('reads ids in base64 and in capitals as the same', async () => {
    const inBase64 = {
      traceId: Buffer.from(HEX_TRACE, 'hex').toString('base64'),
      spanId: Buffer.from(HEX_SPAN, 'hex').toString('base64'),
      parentSpanId: HEX_SPAN.toUpperCase(),
    };

    await post(traces(span(inBase64)));

    expect(collector.spansOf('r1')[0]).toMatchObject({
      traceId: HEX_TRACE,
      spanId: HEX_SPAN,
      parentSpanId: HEX_SPAN,
    });
  });

  it('reads every kind of value', async () => {
    const attributes = [
      { key: 'openwop.run_id', value: { stringValue: 'r1' } },
      { key: 'text', value: { intValue: '7' } },
      { key: 'number', value: { intValue: 0 } },
      { key: 'half', value: { doubleValue: 0.5 } },
      { key: 'no', value: { boolValue: false } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }] } } },
      { key: 'map', value: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } } },
    ];

    await post(traces(span({ attributes })));

    expect(collector.spansOf('r1')[0]?.attributes).toEqual({
      'openwop.run_id': 'r1',
      text: 7,
      number: 0,
      half: 0.5,
      no: false,
      list: ['a', 1],
      map: { k: 'v' },
    });
  });

  it('reads packed bodies', async () => {
    const answer = await post(gzipSync(traces(span())), { 'content-encoding': 'gzip' });

    expect(answer.status).toBe(200);
    expect(collector.spansOf('r1')).toHaveLength(1);
  });

  it.each([
    ['no JSON', 400, () => post('{"resourceSpans":')],
    ['no object', 400, () => post('[]')],
    ['protobuf', 415, () => post('x', { 'content-type': 'application/x-protobuf' })],
    ['no gzip', 400, () => post('x', { 'content-encoding': 'gzip' })],
    ['too many bytes when unpacked', 400, () => post(bomb(), { 'content-encoding': 'gzip' })],
    ['another path', 404, () => post('{}', {}, '/v2/traces')],
    ['spans that are none', 200, () => post('{"resourceSpans":[7,{"scopeSpans":[{"spans":["x",null]}]}]}')],
    ['a span without anything', 200, () => post(traces({}))],
    ['metrics', 200, () => post('{}', {}, '/v1/metrics')],
  ])('answers %s with %i and takes what comes next', async (_what, status, send) => {
    expect((await send()).status).toBe(status);

    await post(traces(span()));

    expect(collector.spansOf('r1')).toHaveLength(1);
  });

  it('says which port is in use', async () => {
    const port = Number(collector.address.split(':')[1]);

    await expect(startOtlpCollector(port)).rejects.toThrow(`port ${port} of 127.0.0.1: it is in use`);
  });
});

function bomb(): Buffer {
  return gzipSync(Buffer.alloc(20 * 1_024 * 1_024));
}

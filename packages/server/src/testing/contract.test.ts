import { describe, expect, it } from 'vitest';
import { checkExchange, type Exchange } from './contract.ts';

const headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'r-1',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-language': 'en',
};

const HEALTH: Exchange = { method: 'GET', url: '/health', status: 200, headers, text: '{"status":"ok"}' };

const NOT_FOUND: Exchange = {
  method: 'POST',
  url: '/v1/runs/r-1:pause',
  status: 404,
  headers,
  text: '{"error":"not_found","message":"No run has this id."}',
};

const STREAM: Exchange = {
  method: 'GET',
  url: '/v1/runs/r-1/events?streamMode=messages',
  status: 200,
  headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
  text: 'id: 3\nevent: ai.message.chunk\ndata: {"nodeId":"n","runId":"r-1","chunk":"a","isLast":true}\n\n',
};

describe('an answer held against the OpenAPI document', () => {
  it.each([HEALTH, NOT_FOUND, STREAM])('passes when it is as described: $method $url', (exchange) => {
    expect(() => checkExchange(exchange)).not.toThrow();
  });

  it.each<[string, Exchange, RegExp]>([
    ['a status', { ...HEALTH, status: 201 }, /this status/],
    ['a header', { ...HEALTH, headers: { ...headers, 'x-other': '1' } }, /the header x-other/],
    [
      'the value of a header',
      { ...HEALTH, headers: { ...headers, 'x-content-type-options': 'x' } },
      /not valid/,
    ],
    ['a media type', { ...HEALTH, headers: { ...headers, 'content-type': 'text/html' } }, /text\/html/],
    ['a body', { ...HEALTH, text: '{}' }, /not valid/],
    ['an operation', { ...HEALTH, url: '/v1/elsewhere' }, /not in the document/],
    [
      'an error',
      { ...NOT_FOUND, text: '{"error":"interrupt_not_found","message":"No."}' },
      /the error interrupt_/,
    ],
    ['a frame', { ...STREAM, text: STREAM.text.replace('"isLast":true', '"isLast":1') }, /the frame/],
  ])('fails with %s that the document does not have', (_what, exchange, problem) => {
    expect(() => checkExchange(exchange)).toThrow(problem);
  });

  it('fails without a header that it must have', () => {
    const { 'x-request-id': _id, ...others } = headers;

    expect(() => checkExchange({ ...HEALTH, headers: others })).toThrow(/x-request-id is missing/);
  });
});

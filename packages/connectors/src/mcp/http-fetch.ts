import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ToolContext } from '@weft/engine';
import { callScope } from './call-scope.ts';
import { MCP_LIMITS } from './limits.ts';

/**
 * What the SDK's transport fetches with: the host's egress, for the configured server and nothing else. Answers are read whole, so that
 * one that breaks off is an error of its request; the optional stream of notifications is not opened.
 */
export function egressFetch(server: URL, fallback: Pick<ToolContext, 'egress'>): FetchLike {
  const admits = `${server.hostname}:${server.port === '' ? (server.protocol === 'https:' ? 443 : 80) : server.port}`;
  return async (target, init = {}) => {
    const url = new URL(target);
    if (url.origin !== server.origin) throw new Error('The server redirects to another place.');
    const method = init.method ?? 'GET';
    if (method === 'GET') return new Response(null, { status: 405 });
    const scope = callScope.getStore();
    const signals = [init.signal, scope?.signal].filter((signal) => signal !== undefined && signal !== null);
    const { status, headers, body } = await (scope ?? fallback).egress.fetch({
      url: url.href,
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' && { body: init.body }),
      signal: AbortSignal.any(signals),
      maxResponseBytes: MCP_LIMITS.messageBytes,
      followRedirects: false,
      admits,
    });
    return new Response(hasBody(status) ? Buffer.from(body) : null, { status, headers });
  };
}

function hasBody(status: number): boolean {
  return status >= 200 && ![204, 205, 304].includes(status);
}

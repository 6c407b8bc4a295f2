import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';

/** Between the SDK and a transport: what comes in is bounded, and holds no secret that the server was given. */
export class CheckedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #inner: Transport;
  readonly #mask: (value: Json) => Json;
  readonly #unanswered = new Set<RequestId>();
  /** How long a request may still be answered once the transport has delivered all that came for it; undefined: no such moment. */
  readonly #settleMs: number | undefined;

  constructor(
    inner: Transport,
    { mask, settleMs }: { readonly mask: (value: Json) => Json; readonly settleMs?: number },
  ) {
    this.#inner = inner;
    this.#mask = mask;
    this.#settleMs = settleMs;
  }

  async start(): Promise<void> {
    const heard: Pick<Transport, 'onclose' | 'onerror' | 'onmessage'> = {
      onclose: () => this.onclose?.(),
      onerror: (error) => this.onerror?.(error),
      onmessage: (message) => this.#receive(message),
    };
    await Object.assign(this.#inner, heard).start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined) this.#unanswered.add(id);
    try {
      await this.#inner.send(message, options);
    } catch (error) {
      if (id !== undefined) this.#unanswered.delete(id);
      throw error;
    }
    if (id === undefined || this.#settleMs === undefined) return;
    setTimeout(() => this.#refuse(id, 'The answer holds no response.'), this.#settleMs).unref();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  #receive(message: JSONRPCMessage): void {
    const isResponse = 'id' in message && !('method' in message) && message.id !== undefined;
    if (isDeeper(message, MCP_LIMITS.messageDepth)) {
      if (isResponse) this.#refuse(message.id, `It nests more than ${MCP_LIMITS.messageDepth} levels.`);
      return;
    }
    if (isResponse) this.#unanswered.delete(message.id as RequestId);
    this.onmessage?.(JSONRPCMessageSchema.parse(this.#mask(message as Json)));
  }

  #refuse(id: RequestId | undefined, reason: string): void {
    if (id === undefined || !this.#unanswered.delete(id)) return;
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: UNREADABLE_ANSWER, message: reason } });
  }
}

/** Ours, and none of JSON-RPC's: the server has answered, and what it says cannot be used. */
export const UNREADABLE_ANSWER = -32_700;

/** Without recursion: depth is what is in question. */
function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

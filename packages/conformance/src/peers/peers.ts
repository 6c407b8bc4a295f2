import type { A2aPeer } from './a2a-peer.ts';
import type { McpServer } from './mcp-server.ts';
import type { OtlpCollector } from './otlp-collector.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** Servers of the suite that a host calls. Each runs only when its port was given, because the host must be configured with its address. */
export interface Peers {
  readonly webhook?: WebhookReceiver;
  readonly otlp?: OtlpCollector;
  readonly mcp?: McpServer;
  readonly a2a?: A2aPeer;
}

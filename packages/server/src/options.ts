import type { StudioFiles } from './studio/studio-files.ts';

/** Options of the server. Every member has a default. */
export interface ServerOptions {
  /** Base of the URLs in answers, without a path; otherwise the address that the request has reached. */
  readonly publicUrl?: string;
  /** Host headers that may stand in URLs of answers instead, and under which pages are opened: `HOST[:PORT]`, or with `https://` before it. */
  readonly allowedHosts?: readonly string[];
  /** The secret by which clients that can read the data folder recognise the host. */
  readonly identity?: Uint8Array;
  readonly maxRequestBodyBytes?: number;
  /** Of an answer over gRPC, which is one message: what clients take by default. */
  readonly maxGrpcMessageBytes?: number;
  /** Per key. Absent = off, as on loopback. */
  readonly rateLimit?: RateLimit;
  /** Comment frames on quiet streams; the protocol wants one at least every 30 s. */
  readonly keepaliveMs?: number;
  /** A reader that takes nothing for this long is disconnected. */
  readonly stallMs?: number;
  readonly maxStreamsPerTenant?: number;
  readonly maxStreams?: number;
  /** Long polls of one tenant, and its bundles, diffs and logs that are being sent. */
  readonly maxPollsPerTenant?: number;
  readonly maxDownloadsPerTenant?: number;
  readonly maxConnections?: number;
  /** The head of a request, and all of it: a slower client is disconnected. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Bytes of request bodies that are being worked on, and of large answers that are being taken. */
  readonly maxBytesInFlight?: number;
  /** Denials written to the audit trail per second; the others are counted. */
  readonly auditedDenialsPerSecond?: number;
  /** Keys and links that are not accepted, per address; from this one on the answer is 429. Off on loopback. */
  readonly failedAttemptsPerMinute?: number;
  /** One log line per request: who, what, answered how, in what time. */
  readonly accessLog?: boolean;
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[];
  /** The web page; `not-built` has it say how to build it. Absent = not served. */
  readonly studio?: StudioFiles | 'not-built';
}

export interface RateLimit {
  /** Requests that may come at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Settings
  extends Omit<Required<ServerOptions>, 'publicUrl' | 'rateLimit' | 'identity' | 'studio'> {
  readonly publicUrl: string | undefined;
  readonly identity: Uint8Array | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly studio: StudioFiles | 'not-built' | undefined;
}

const DEFAULTS: Settings = {
  publicUrl: undefined,
  allowedHosts: [],
  identity: undefined,
  maxRequestBodyBytes: 1024 * 1024,
  maxGrpcMessageBytes: 4 * 1024 * 1024,
  rateLimit: undefined,
  keepaliveMs: 15_000,
  stallMs: 60_000,
  maxStreamsPerTenant: 1_000,
  maxStreams: 5_000,
  maxPollsPerTenant: 1_000,
  maxDownloadsPerTenant: 16,
  maxConnections: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  maxBytesInFlight: 64 * 1024 * 1024,
  auditedDenialsPerSecond: 10,
  failedAttemptsPerMinute: 20,
  accessLog: false,
  trustedProxies: [],
  studio: undefined,
};

export function settingsFrom(options: ServerOptions): Settings {
  return { ...DEFAULTS, ...options, publicUrl: options.publicUrl?.replace(/\/+$/, '') };
}

/** What a server may make the host keep or do, whatever it says. */
export const MCP_LIMITS = {
  servers: 32,
  /** Bytes of one message, or of one HTTP answer. */
  messageBytes: 4 * 1024 * 1024,
  /** Objects and arrays inside each other. */
  messageDepth: 64,
  /** Lines on stdout that are no messages, until the process counts as broken. */
  strayLines: 1_000,
  /** Pages of a list, and tools that the configuration admits. */
  pages: 50,
  tools: 500,
  /** Of one definition as JSON, its schema included. */
  definitionBytes: 65_536,
  descriptionLength: 8_192,
  /** Of a result as JSON: it is recorded in an event. */
  resultBytes: 120_000,
  callsPerServer: 8,
  waitingPerServer: 1_000,
  /** For starting a process and its handshake, and for one page of a list. */
  startMs: 30_000,
  listMs: 30_000,
  /** A list that is older is asked for again. */
  listAgeMs: 60_000,
  defaultTimeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  /** Between two starts of a server that failed, doubled each time. */
  firstBackoffMs: 1_000,
  maxBackoffMs: 60_000,
  /** A process that is stopped gets this long to end by itself, and again after SIGTERM. */
  stopMs: 500,
  /** Characters of one logged line of stderr, and lines a minute. */
  stderrLine: 2_000,
  stderrLines: 100,
  /** Characters of a server's message in an error. */
  messageLength: 500,
} as const;

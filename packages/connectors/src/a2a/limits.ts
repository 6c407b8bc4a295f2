/** What a peer may make the host keep or do, whatever it says. */
export const A2A_LIMITS = {
  peers: 32,
  /** Bytes of a card, and of any other answer. */
  cardBytes: 256 * 1024,
  answerBytes: 4 * 1024 * 1024,
  skills: 200,
  /** Of a task as JSON: it is recorded in an event. */
  taskBytes: 120_000,
  /** For one request. */
  defaultTimeoutMs: 30_000,
  maxTimeoutMs: 600_000,
  /** Between two looks at a task: more each time. */
  firstPollMs: 200,
  maxPollMs: 5_000,
  pollFactor: 1.5,
  /** How long a peer may be out of reach while it works on a task: it may be restarted. */
  maxAbsenceMs: 120_000,
  /** Characters of a peer's words in an error. */
  messageLength: 500,
} as const;

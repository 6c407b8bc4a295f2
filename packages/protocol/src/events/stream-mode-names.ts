/** How a reader wants to see a run; the same log, filtered. */
export const STREAM_MODES = ['values', 'updates', 'messages', 'debug'] as const;

export type StreamMode = (typeof STREAM_MODES)[number];

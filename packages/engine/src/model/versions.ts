/** Version of persisted runs: what a run is stamped with, and what this host can read. */
export const ENGINE_VERSION = 1;
export const EVENT_LOG_SCHEMA_VERSION = 2;
export const PROTOCOL_VERSION = '1.0';

/** What `X-Force-Engine-Version` may name on a test host: one ahead is how the suite asks about tolerance. */
export const FORCED_ENGINE_VERSIONS = { min: 1, max: ENGINE_VERSION + 1 } as const;

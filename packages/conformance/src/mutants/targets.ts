/** The requests that mutants meddle with most. */

export const DISCOVERY = { method: 'GET', path: /^\/\.well-known\/openwop/ } as const;
export const OPENAPI = { method: 'GET', path: /^\/v1\/openapi\.json/ } as const;
export const ASYNCAPI = { method: 'GET', path: /^\/v1\/asyncapi\.json/ } as const;
/** Everything about runs. */
export const RUNS = { path: /^\/v1\/runs/ } as const;
export const CREATE = { method: 'POST', path: /^\/v1\/runs$/ } as const;
export const SNAPSHOT = { method: 'GET', path: /^\/v1\/runs\/[^/:?]+$/ } as const;
export const POLL = { method: 'GET', path: /\/events\/poll/ } as const;
export const STREAM = { method: 'GET', path: /\/events(\?|$)/ } as const;
/** A run, and the log that is polled of it. */
export const SNAPSHOT_AND_POLL = { method: 'GET', path: /^\/v1\/runs\/[^/:?]+(\/events\/poll.*)?$/ } as const;
export const CANCEL = { method: 'POST', path: /\/cancel$/ } as const;
export const PAUSE = { method: 'POST', path: /:pause$/ } as const;
export const RESUME = { method: 'POST', path: /:resume$/ } as const;
export const FORK = { method: 'POST', path: /:fork$/ } as const;
/** An answer to an interrupt, by its node or by a token. */
export const RESOLVE = { method: 'POST', path: /\/interrupts\// } as const;

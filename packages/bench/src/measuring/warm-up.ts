/**
 * V8 optimises what has run often, so runs of the first seconds cost up to twice as much as later ones, for the host as for
 * everything it is compared with. Every contender therefore serves the workload for this long, with this many clients, before
 * its first measured window.
 */
export const WARM_UP = { seconds: 8, clients: 64 } as const;

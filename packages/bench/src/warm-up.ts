/**
 * V8 optimises what has run often, so the first thousands of runs cost up to twice as much as later ones, for the host as for
 * everything it is compared with. Every contender therefore serves the workload for this long, with this many clients, before
 * its first measured window.
 */
export const WARM_UP = { seconds: 3, clients: 64 } as const;

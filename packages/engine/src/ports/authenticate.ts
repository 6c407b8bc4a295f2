import type { Authentication } from '../host/surface/caller.ts';

/** Who holds a credential: a caller, or why there is none. The host's own API keys are the first adapter. */
export type Authenticate = (credential: string) => Promise<Authentication>;

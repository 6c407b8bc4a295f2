import type { AgentEntry } from '@weft/protocol';
import type { InstalledAgent } from '../../model/installed-agent.ts';
import type { Caller } from './caller.ts';

/** An agent of a pack, and what this host cannot give it. */
export interface OfferedAgent extends InstalledAgent {
  /** Capabilities that its pack can do without, and has to here. */
  readonly degraded?: readonly string[];
}

/** Agents of installed packs. */
export interface Agents {
  /**
   * Makes them those that nodes of the caller's tenant may pin from now on. Throws `conflict` where a version was known with other
   * contents, and then none of them is installed.
   */
  install(caller: Caller, agents: readonly OfferedAgent[]): Promise<void>;
  /** The newest version of each, by id; undefined where the host has no packs. */
  list(caller: Caller): readonly AgentEntry[] | undefined;
}

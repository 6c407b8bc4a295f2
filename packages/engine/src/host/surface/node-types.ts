import type { NodeTypeEntry } from '@weft/protocol';
import type { Caller } from './caller.ts';

/** What nodes of a definition may be: types of the host, and those that workers have served. */
export interface NodeTypeCatalogue {
  /** By type id and version; all of them, or the versions of one. */
  list(caller: Caller, typeId?: string): Promise<readonly NodeTypeEntry[]>;
  /**
   * Has workers of version `to` perform the tasks of `version`; without `to` its own do again. Throws `not_found` and
   * `validation_error`.
   */
  map(caller: Caller, typeId: string, version: string, to?: string): Promise<void>;
  /** Called when types of a tenant have become known, or were mapped. Returns the way to stop. */
  watch(onChange: (tenant: string) => void): () => void;
}

/** What a host and the processes that it starts for code of users say to each other, over the channel between them. */
import type { JsonObject } from '@weft/protocol/plain';

/** The first message to a process. The key travels here and nowhere else: not as an argument, a variable or a file. */
export interface Assignment {
  readonly kind: 'serve';
  readonly url: string;
  readonly key: string;
  readonly source: NodeSource;
  readonly cwd: string;
  readonly concurrency: number;
  readonly dev: boolean;
  readonly share: Share;
  readonly stuckMs: number;
  readonly graceMs: number;
}

/** Where node types come from. */
export type NodeSource =
  | { readonly kind: 'folders'; readonly folders: readonly string[] }
  | {
      readonly kind: 'packs';
      readonly folder: string;
      readonly tenant: string;
      /** The discovery document of the host, to which peer dependencies are held. */
      readonly capabilities: JsonObject;
      /** HOST:PORT pairs that packs may reach although they are not public. */
      readonly allowEgress: readonly string[];
    };

/** Which types of the source a process serves. */
export type Share =
  | { readonly only: string; readonly except?: undefined }
  | { readonly except: readonly string[]; readonly only?: undefined };

export type ToNodeProcess = Assignment | { readonly kind: 'drain' };

export interface ServedNode {
  readonly typeId: string;
  readonly version: string;
  readonly file: string;
}

export interface Loaded {
  readonly warnings: readonly string[];
  /** The files that its code was made of. */
  readonly files: readonly string[];
}

export type FromNodeProcess =
  /** Its code is loaded; no types: there is nothing for it to do. */
  | ({ readonly kind: 'loaded'; readonly nodes: readonly ServedNode[] } & Loaded)
  /** The host has accepted its types. */
  | { readonly kind: 'serving'; readonly workerId: string; readonly nodes: readonly ServedNode[] }
  /** Its code cannot be loaded, or its types were refused. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Types with a task, now or a moment ago. */
  | { readonly kind: 'busy'; readonly types: readonly string[] }
  | { readonly kind: 'alive' };

/** What the watchdog of a process says, over a pipe of its own, when its main thread stands still. */
export interface Standstill {
  /** What the thread was doing; undefined when that is unknown. */
  readonly task?: StuckTask | undefined;
  /** FILE:LINE:COLUMN */
  readonly at?: string | undefined;
}

export interface StuckTask {
  readonly taskId: string;
  readonly lease: number;
  readonly typeId: string;
  readonly nodeId: string;
  readonly runId: string;
}

import type { ArtifactRef } from '../../model/node-type.ts';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller } from './caller.ts';

export interface Artifacts {
  /** Something a run has produced. Undefined for an unknown artifact, as for an unknown run. */
  open(caller: Caller, runId: string, artifactId: string): Promise<ReadableArtifact | undefined>;
  /** Newest first; undefined for an unknown run. */
  list(caller: Caller, runId: string, page: Page): Promise<Listed<ArtifactSummary> | undefined>;
}

export interface ArtifactSummary extends ArtifactRef {
  readonly name: string;
  readonly nodeKey: string;
  readonly createdAt: number;
}

export interface ReadableArtifact extends ArtifactSummary {
  /** The bytes, read piece by piece as they are asked for. */
  read(): AsyncIterable<Uint8Array>;
}

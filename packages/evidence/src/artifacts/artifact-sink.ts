import type { Problem } from '../contract/problem.ts';

/** Takes the bytes of one file as they arrive. It never throws for what the bytes say: problems are reported. */
export interface ArtifactSink {
  write(chunk: Uint8Array): void;
  end(): void;
}

export type Report = (problem: Problem) => void;

import type { Annotation, AnnotationCreate } from '@weft/protocol';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

export interface Annotations {
  /** Keeps what a person or a program says about a run, ended or not. Undefined for an unknown run. */
  create(
    caller: Caller,
    runId: string,
    request: AnnotationCreate,
    idempotency?: IdempotencyClaim<Annotation>,
  ): Promise<Annotated | undefined>;
  /** Oldest first; undefined for an unknown run. */
  list(caller: Caller, runId: string): Promise<readonly Annotation[] | undefined>;
  /**
   * Calls back with a JSON document for each annotation of the run made through this process. It is news, no fact of the log;
   * the subscriber has seen to it that the reader may see the run. Returns the way to stop.
   */
  subscribe(runId: string, listener: (document: string) => void): () => void;
}

export type Annotated = { readonly replayed: false; readonly annotation: Annotation } | ReplayedAnswer;

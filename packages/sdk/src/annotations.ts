import type { Annotation, AnnotationCreate } from '@weft/protocol';
import type { Idempotent } from './runs.ts';
import type { Transport } from './transport.ts';

/** What people say about runs: ratings, labels, flags and corrections. Also of runs that have ended. */
export interface Annotations {
  create(runId: string, annotation: AnnotationCreate, options?: Idempotent): Promise<Annotation>;
  /** Oldest first. */
  list(runId: string): Promise<readonly Annotation[]>;
}

export function createAnnotations(transport: Transport): Annotations {
  return {
    create: (runId, annotation, options = {}) =>
      transport.json('POST', annotationsPath(runId), {
        body: annotation,
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    list: async (runId) =>
      (await transport.json<{ annotations: Annotation[] }>('GET', annotationsPath(runId))).annotations,
  };
}

function annotationsPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}/annotations`;
}

import type { Annotation, AnnotationCreate } from '@weft/protocol';
import { endpointOf } from '@weft/protocol/plain';
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
      transport.json(endpointOf('createAnnotation', { runId }), {
        body: annotation,
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    list: async (runId) =>
      (await transport.json<{ annotations: Annotation[] }>(endpointOf('listAnnotations', { runId })))
        .annotations,
  };
}

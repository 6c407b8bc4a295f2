import { type Annotation, type AnnotationCreate, endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Idempotent } from './runs.ts';
import type { Transport } from '../requests/transport.ts';

/** What people say about runs: ratings, labels, flags and corrections. Also of runs that have ended. */
export interface Annotations {
  create(runId: string, annotation: AnnotationCreate, options?: Idempotent): ApiPromise<Annotation>;
  /** Oldest first. */
  list(runId: string): ListPromise<Annotation>;
}

export function createAnnotations(transport: Transport): Annotations {
  return {
    create: (runId, annotation, options = {}) =>
      transport.json(endpointOf('createAnnotation', { runId }), {
        body: annotation,
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
    list: (runId) => wholeList(transport, endpointOf('listAnnotations', { runId }), 'annotations'),
  };
}

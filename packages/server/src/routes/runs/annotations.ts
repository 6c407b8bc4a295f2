import type { Annotation, Json } from '@weft/protocol';
import { AnnotationCreateSchema, operationOf, route } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';

const ANNOTATE = operationOf(route('createAnnotation'));
const parseAnnotation = bodyParser(AnnotationCreateSchema);

/** What people say about a run. Who says it is whose key it is. */
export const annotationRoutes: Routes = (serve, context) => {
  serve('createAnnotation', { ofRun: true }, async (request, reply) => {
    const body = request.body as Json | undefined;
    const runId = pathParam(request, 'runId');
    const asked = parseAnnotation(body);
    const claim = idempotencyOf(request, {
      operation: ANNOTATE,
      target: [runId],
      body: body ?? null,
      render: (outcome: Annotation) => ({ status: 201, body: JSON.stringify(outcome) }),
    });
    const answer = await context.host.annotations.create(callerOf(request), runId, asked, claim);
    if (answer === undefined) throw noSuchRun();
    if (answer.replayed) return sendReplay(reply, answer);
    return sendJson(reply, 201, JSON.stringify(answer.annotation));
  });

  serve('listAnnotations', { ofRun: true }, async (request, reply) => {
    const annotations = await context.host.annotations.list(callerOf(request), pathParam(request, 'runId'));
    if (annotations === undefined) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify({ annotations }));
  });
};

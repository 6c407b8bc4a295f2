import type { JsonObject } from '@weft/protocol';
import { changes, dropsHeader, without } from '../../mutants/change.ts';
import { type Mutant, type ProxiedRequest, status } from '../../mutants/mutant.ts';

const CREATE = { method: 'POST', path: /^\/v1\/runs$/ };
const ANY = { path: /^\// };
const MEMBER = 'weftUnknownMember';

/** Changes error envelopes only. */
function refusals(change: (body: JsonObject) => JsonObject) {
  return changes((body) => (typeof body['error'] === 'string' ? change(body) : body));
}

/** Takes the unknown member out on its way, so that the host never sees it. */
function forgives(request: ProxiedRequest): ProxiedRequest {
  return { ...request, body: request.body.replace(`,"${MEMBER}":true`, '') };
}

export const ERRORS_MUTANTS: readonly Mutant[] = [
  {
    id: 'errors/correlation-at-the-top',
    breaks: 'errors have a correlationId at the top level',
    caughtBy: ['errors/envelope', 'errors/unknown-run'],
    says: /no members but error, message and details/,
    on: ANY,
    answer: refusals((body) => ({ ...body, correlationId: 'c-1' })),
  },
  {
    id: 'errors/details-null',
    breaks: 'errors without details have null',
    caughtBy: ['errors/envelope'],
    says: /details are an object/,
    on: ANY,
    answer: refusals((body) => ({ ...body, details: null })),
  },
  {
    id: 'errors/nested',
    breaks: 'the code and message of an error are nested',
    caughtBy: ['errors/envelope'],
    says: /a text, not an object/,
    on: ANY,
    answer: refusals(({ error, message }) => ({ error: { code: error ?? '', message: message ?? '' } })),
  },
  {
    id: 'errors/shouted-code',
    breaks: 'codes are written in capitals',
    caughtBy: ['errors/envelope'],
    says: /snake case/,
    on: ANY,
    answer: refusals((body) => ({ ...body, error: String(body['error']).toUpperCase() })),
  },
  {
    id: 'errors/no-message',
    breaks: 'errors have no message',
    caughtBy: ['errors/envelope'],
    says: /error's message/,
    on: ANY,
    answer: refusals((body) => without(body, 'message')),
  },
  {
    id: 'errors/plain-text',
    breaks: 'an unknown run is answered in plain text',
    caughtBy: ['errors/unknown-run', 'errors/json'],
    says: /answered with a JSON object/,
    on: { path: /^\/v1\/runs\// },
    answer: (answer) => (answer.status === 404 ? { ...answer, body: 'Not Found' } : answer),
  },
  {
    id: 'errors/untyped',
    breaks: 'errors have no content type',
    caughtBy: ['errors/json'],
    says: /header content-type/,
    on: { path: /\/events$/ },
    answer: dropsHeader('content-type'),
  },
  {
    id: 'errors/stack-trace',
    breaks: 'a malformed body is answered with a stack trace',
    caughtBy: ['errors/no-internals'],
    says: /no stack trace/,
    on: CREATE,
    answer: refusals((body) => ({ ...body, details: { cause: 'Error\n    at parse (/srv/app.js:10:5)' } })),
  },
  {
    id: 'errors/malformed-is-500',
    breaks: 'a malformed body is taken for an error of the host',
    caughtBy: ['errors/no-internals', 'errors/malformed-json'],
    says: /caller’s error/,
    on: CREATE,
    answer: status(400, 500),
  },
  {
    id: 'errors/unknown-run-200',
    breaks: 'cancelling an unknown run succeeds',
    caughtBy: ['errors/unknown-run'],
    says: /status 403 or 404/,
    on: { method: 'POST', path: /\/cancel$/ },
    answer: status(404, 200),
  },
  {
    id: 'errors/unknown-workflow-400',
    breaks: 'an unknown workflow is answered with 400',
    caughtBy: ['errors/unknown-workflow'],
    says: /status 403 or 404/,
    on: { method: 'GET', path: /^\/v1\/workflows\// },
    answer: status(404, 400),
  },
  {
    id: 'errors/unknown-artifact-204',
    breaks: 'an unknown artifact is answered as an empty one',
    caughtBy: ['errors/unknown-artifact'],
    says: /status 403 or 404/,
    on: { method: 'GET', path: /\/artifacts\// },
    answer: (answer) => (answer.status === 404 ? { ...answer, status: 200, body: '{}' } : answer),
  },
  {
    id: 'errors/echoes-the-workflow',
    breaks: 'a refusal repeats the unknown workflowId',
    caughtBy: ['errors/unknown-workflow-run'],
    says: /does not repeat the workflowId/,
    on: CREATE,
    answer: (answer, request, memory) =>
      refusals((body) => ({ ...body, message: `Unknown workflow in ${request.body}` }))(
        answer,
        request,
        memory,
      ),
  },
  {
    id: 'errors/workflow-later',
    breaks: 'a run of an unknown workflow is created, and fails later',
    caughtBy: ['errors/unknown-workflow-run'],
    says: /status 400/,
    on: CREATE,
    answer: (answer) =>
      answer.status === 404 ? { ...answer, status: 201, body: '{"runId":"r","status":"pending"}' } : answer,
  },
  {
    id: 'errors/bad-request-code',
    breaks: 'wrong bodies have the code bad_request',
    caughtBy: ['errors/empty-run', 'errors/wrong-types', 'errors/closed-create'],
    says: /code is validation_error/,
    on: CREATE,
    answer: refusals((body) => ({ ...body, error: 'bad_request' })),
  },
  {
    id: 'errors/forgives-types',
    breaks: 'tags that are no list are dropped',
    caughtBy: ['errors/wrong-types'],
    says: /status 400 or 422/,
    on: CREATE,
    request: (request) => ({ ...request, body: request.body.replace(',"tags":"one"', '') }),
  },
  {
    id: 'errors/unknown-member-accepted',
    breaks: 'an unknown member of a request for a run is ignored',
    caughtBy: ['errors/closed-create'],
    says: /status 400 or 422/,
    on: CREATE,
    request: forgives,
  },
  {
    id: 'errors/unknown-member-unnamed',
    breaks: 'the refusal of an unknown member does not name it',
    caughtBy: ['errors/closed-create'],
    says: /names the unknown member/,
    on: CREATE,
    answer: refusals(() => ({ error: 'validation_error', message: 'The body is not valid.' })),
  },
  {
    id: 'errors/evaluation-as-run',
    breaks: 'a run of mode eval is run as an ordinary one',
    caughtBy: ['errors/no-evaluations'],
    says: /status 400/,
    on: CREATE,
    request: (request) => ({ ...request, body: '{"workflowId":"conformance-noop"}' }),
  },
  {
    id: 'errors/closed-metadata',
    breaks: 'metadata of vendors is refused',
    caughtBy: ['errors/open-metadata'],
    says: /status 201/,
    on: CREATE,
    request: (request) =>
      request.body.includes('acme.ticket')
        ? {
            instead: {
              status: 400,
              headers: {},
              body: '{"error":"validation_error","message":"Unknown key."}',
            },
          }
        : request,
  },
  {
    id: 'errors/resolve-open',
    breaks: 'an unknown member of an answer to an interrupt is ignored',
    caughtBy: ['errors/closed-resolve'],
    says: /status 400 or 422/,
    on: { method: 'POST', path: /\/interrupts\// },
    request: forgives,
  },
  {
    id: 'errors/refused-but-done',
    breaks: 'an answer to an interrupt is refused, and taken all the same',
    caughtBy: ['errors/closed-resolve'],
    says: /leaves the run waiting/,
    on: { path: /^\/v1\/runs\/[^/]+(?:\/interrupts\/gate)?$/ },
    request: forgives,
    answer: (answer, { path }, memory) => {
      if (!path.endsWith('/gate')) return answer;
      memory.set('done', true);
      return { ...answer, status: 400, body: '{"error":"validation_error","message":"Unknown member."}' };
    },
  },
  {
    id: 'errors/fork-open',
    breaks: 'an unknown member of a fork is ignored',
    caughtBy: ['errors/closed-fork'],
    says: /status 400 or 422/,
    on: { method: 'POST', path: /:fork$/ },
    request: forgives,
  },
  {
    id: 'errors/pause-open',
    breaks: 'an unknown member of a pause is ignored',
    caughtBy: ['errors/closed-pause'],
    says: /status 400 or 422/,
    on: { method: 'POST', path: /:pause$/ },
    request: (request) => ({ ...request, body: '{}' }),
  },
  {
    id: 'errors/annotation-open',
    breaks: 'an unknown member of an annotation is ignored',
    caughtBy: ['errors/closed-annotation'],
    says: /status 400 or 422/,
    on: { method: 'POST', path: /\/annotations$/ },
    request: forgives,
  },
  {
    id: 'errors/bulk-cancel-open',
    breaks: 'an unknown member of a bulk cancel is ignored',
    caughtBy: ['errors/closed-bulk-cancel'],
    says: /status 400 or 422/,
    on: { method: 'POST', path: /:bulk-cancel$/ },
    request: forgives,
  },
  {
    id: 'errors/unknown-route-html',
    breaks: 'unknown routes are answered with a page',
    caughtBy: ['errors/unknown-route'],
    says: /answered with a JSON object/,
    on: { path: /^\/v1\/weft-conformance/ },
    answer: (answer) => ({ ...answer, body: '<html></html>' }),
  },
  {
    id: 'errors/unversioned-404',
    breaks: 'unversioned roots are answered with 404',
    caughtBy: ['errors/unversioned-root'],
    says: /status 400/,
    on: { path: /^\/(?:runs|workflows)/ },
    answer: status(400, 404),
  },
  {
    id: 'errors/unversioned-alias',
    breaks: 'runs can be created without a version in the path',
    caughtBy: ['errors/unversioned-root'],
    says: /status 400/,
    on: { method: 'POST', path: /^\/runs$/ },
    request: (request) => ({ ...request, path: '/v1/runs' }),
  },
  {
    id: 'errors/strict-query',
    breaks: 'unknown query parameters are refused',
    caughtBy: ['errors/unknown-query'],
    says: /status 200/,
    on: { method: 'GET', path: /weftUnknown/ },
    answer: status(200, 400),
  },
  {
    id: 'errors/long-id-500',
    breaks: 'an id that is too long is an error of the host',
    caughtBy: ['errors/long-ids'],
    says: /status 400/,
    on: { method: 'GET', path: /a{129}/ },
    answer: (answer) => ({ ...answer, status: 500 }),
  },
  {
    id: 'errors/workflow-without-nodes',
    breaks: 'a workflow is answered without its nodes',
    caughtBy: ['errors/workflow'],
    says: /with its nodes/,
    on: { method: 'GET', path: /^\/v1\/workflows\// },
    answer: changes((body) => without(body, 'nodes')),
  },
  {
    id: 'errors/any-webhook',
    breaks: 'a webhook is registered for anything',
    caughtBy: ['errors/webhook-url'],
    says: /status 400/,
    on: { method: 'POST', path: /^\/v1\/webhooks$/ },
    answer: (answer) => ({ ...answer, status: 201, body: '{"webhookId":"w"}' }),
  },
  {
    id: 'errors/webhook-tenant-wanted',
    breaks: 'removing a webhook without tenantId is refused with 400',
    caughtBy: ['errors/unknown-webhook'],
    says: /status 403/,
    on: { method: 'DELETE', path: /^\/v1\/webhooks\// },
    answer: status(404, 400),
  },
];

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { openApiDocument } from './openapi.ts';
import { operationOf, ROUTES, route } from '../routes/routes.ts';
import { compileValidator } from '../validation/validate.ts';

const document = openApiDocument();

describe('the table of routes', () => {
  it('names each operation once', () => {
    expect(new Set(ROUTES.map(operationOf)).size).toBe(ROUTES.length);
  });

  it('finds an operation and names it for idempotency', () => {
    expect(operationOf(route('pauseRun'))).toBe('POST /v1/runs/{runId}:pause');
  });

  it('asks for a key everywhere but at discovery, the descriptions, signed links, signing in, the proof of identity, the probes, signed deliveries and the agent card', () => {
    const free = ROUTES.filter((entry) => entry.scope === null).map((entry) => entry.path);

    expect(free).toEqual([
      '/.well-known/openwop',
      '/v1/openapi.json',
      '/v1/asyncapi.json',
      '/v1/openwop.proto',
      '/v1/schemas/{schemaName}.json',
      '/v1/interrupts/{token}',
      '/v1/interrupts/{token}',
      '/v1/host/weft/interrupts/{token}',
      '/v1/host/weft/sessions',
      '/v1/host/weft/identity',
      '/health',
      '/ready',
      '/v1/host/weft/ingest/{triggerId}',
      '/.well-known/agent-card.json',
    ]);
  });

  it('has schemas that compile under strict rules', () => {
    for (const entry of ROUTES) {
      const answers = Object.values(entry.responses).flatMap((answer) => answer.schema ?? []);
      const given = [...(entry.query ?? []), ...(entry.headers ?? [])].map((parameter) => parameter.schema);
      const all = [...answers, ...given, ...(entry.request === undefined ? [] : [entry.request.schema])];
      for (const schema of all) expect(() => compileValidator(schema)({})).not.toThrow();
    }
  });
});

describe('the OpenAPI document', () => {
  it('is 3.1 with the version of the protocol’s texts, and has no /v1 in its server', () => {
    expect(document.openapi).toMatch(/^3\.[1-9]/);
    expect((document.info as JsonObject).version).toBe('1.1.0');
    expect(document.servers).toEqual([{ url: '/' }]);
  });

  it('describes every route', () => {
    const paths = document.paths as Record<string, JsonObject>;
    for (const entry of ROUTES) expect(paths[entry.path]).toHaveProperty(entry.method.toLowerCase());
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/runs/{runId}:pause',
        '/v1/runs:bulk-cancel',
        '/v1/host/weft/workflows:check',
      ]),
    );
  });

  it('gives the error envelope for every failure', () => {
    const text = JSON.stringify(document);

    expect(text).toContain('#/components/schemas/ErrorEnvelope');
    expect(document).toHaveProperty('components.schemas.ErrorEnvelope.additionalProperties', false);
    expect(document).toHaveProperty(['paths', '/v1/runs', 'post', 'responses', '409']);
  });

  it('closes the creation of a run once, where it is composed', () => {
    const schema = ['components', 'schemas', 'CreateRunRequest'];

    expect(document).toHaveProperty([...schema, 'unevaluatedProperties'], false);
    expect(document).not.toHaveProperty([...schema, 'allOf', '0', 'additionalProperties']);
    expect(document).not.toHaveProperty([...schema, 'allOf', '1', 'additionalProperties']);
  });

  it('names operations as the protocol does', () => {
    const ids = ROUTES.filter(({ path }) => !path.startsWith('/v1/host/')).map(
      ({ operationId }) => operationId,
    );

    expect(ids).toEqual(expect.arrayContaining(IDS_OF_THE_PROTOCOL));
  });

  it('refers to what it holds itself, and to nothing else', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, found = '']) => found,
    );

    expect(references.length).toBeGreaterThan(500);
    for (const reference of new Set(references))
      expect(document, reference).toHaveProperty(reference.replace(/^#\//, '').split('/'));
  });

  it('has room for the tokens of links, and says which query parameters are required', () => {
    expect(document).toHaveProperty('components.parameters.token.schema.maxLength', 1024);
    expect(document).toHaveProperty(
      ['paths', '/v1/runs/{runId}:diff', 'get', 'parameters', '1'],
      expect.objectContaining({ name: 'against', required: true }),
    );
  });

  it('has the headers of answers', () => {
    const created = ['paths', '/v1/runs', 'post', 'responses', '201', 'headers'];

    expect(document).toHaveProperty([...created, 'openwop-Idempotent-Replay']);
    expect(document).toHaveProperty([
      'paths',
      '/v1/runs/{runId}',
      'get',
      'responses',
      '304',
      'headers',
      'ETag',
    ]);
    expect(document).toHaveProperty('components.responses.RateLimited.headers.Retry-After');
  });

  it('has both forms of a log, and the stream by its frames', () => {
    const content = ['paths', '/v1/runs/{runId}/events', 'get', 'responses', '200', 'content'];

    expect(document).toHaveProperty([...content, 'application/json', 'schema'], {
      $ref: '#/components/schemas/PollResponse',
    });
    expect(document).toHaveProperty([...content, 'text/event-stream', 'schema', 'contentSchema', 'items'], {
      $ref: '#/components/schemas/StreamFrame',
    });
  });

  it('says that a registry is another service', () => {
    expect((document.info as JsonObject).description).toContain('/v1/packs');
    expect(Object.keys(document.paths as JsonObject).join()).not.toContain('/v1/packs');
  });
});

const IDS_OF_THE_PROTOCOL =
  `getCapabilities getOpenApiSpec getWorkflow createRun getRun streamRunEvents pollRunEvents cancelRun bulkCancelRuns forkRun
  getRunAncestry diffRun pauseRun resumeRun resolveInterruptByRun inspectInterruptByToken resolveInterruptByToken getArtifact
  registerWebhook unregisterWebhook verifyAuditLog createAnnotation listAnnotations`.split(/\s+/);

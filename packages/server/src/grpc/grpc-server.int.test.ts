import { GRPC_STATUS, type JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { struct, valueOf, withoutDefaults } from '../testing/grpc-documents.ts';
import { type GrpcHarness, openGrpcHarness } from '../testing/grpc-harness.ts';
import { produce, workflow } from '../testing/driven-host.ts';

/** Both doors of one host, asked the same. */
let at: GrpcHarness;
beforeAll(async () => {
  at = await openGrpcHarness({}, { nodes: [produce] });
  await at.call('POST', '/v1/host/weft/workflows', { body: workflow('produces', 'test.produce') });
});
afterAll(() => at.close());

const {
  OK,
  ABORTED,
  ALREADY_EXISTS,
  FAILED_PRECONDITION,
  INVALID_ARGUMENT,
  NOT_FOUND,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  UNAUTHENTICATED,
} = GRPC_STATUS;

async function reached(workflowId: string, status: string): Promise<string> {
  const { runId } = await at.start(workflowId);
  await at.reaches(runId, status);
  return runId;
}

async function overHttp(url: string): Promise<JsonObject> {
  return JSON.parse((await at.call('GET', url)).text) as JsonObject;
}

describe('what is read over gRPC is what is read over HTTP', () => {
  it('of the capabilities, without a key', async () => {
    const { code, document } = await at.rpc('GetCapabilities', {}, { key: null });

    expect(code).toBe(OK);
    expect(withoutDefaults(document)).toEqual(withoutDefaults(await overHttp('/.well-known/openwop')));
  });

  it('of a workflow', async () => {
    const { document } = await at.rpc('GetWorkflow', { workflow_id: 'steps' });

    expect(withoutDefaults(document)).toEqual(withoutDefaults(await overHttp('/v1/workflows/steps')));
  });

  it('of a run, with members that only this host has', async () => {
    const runId = await reached('gate', 'waiting-approval');

    const { document } = await at.rpc('GetRun', { run_id: runId });

    const snapshot = await overHttp(`/v1/runs/${runId}`);
    const reachedAt = (url: unknown): string => String(url).replace(/^http:\/\/[^/]+/, at.url);
    expect(document['interrupt']?.['callbackUrl']).toBe(
      reachedAt((snapshot['interrupt'] as JsonObject)['callbackUrl']),
    );
    const documents: unknown = [snapshot, document];
    for (const each of documents as { interrupt: { callbackUrl?: unknown } }[])
      delete each.interrupt.callbackUrl;
    expect(withoutDefaults(document)).toEqual(withoutDefaults(snapshot));
  });

  it('of a diff, equal runs included', async () => {
    const [a, b] = [await reached('produces', 'completed'), await reached('noop', 'completed')];

    const different = await at.rpc('DiffRun', { run_id: a, against: b });
    const equal = await at.rpc('DiffRun', { run_id: a, against: a });

    expect(withoutDefaults(different.document)).toEqual(
      withoutDefaults(await overHttp(`/v1/runs/${a}:diff?against=${b}`)),
    );
    expect(equal.document).not.toHaveProperty('divergedAtSeq');
  });

  it('of a bundle, whole or in part', async () => {
    const runId = await reached('produces', 'completed');
    const without = (document: unknown) => {
      const { generatedAt: _at, weft: _digest, ...bundle } = document as JsonObject;
      return withoutDefaults(bundle);
    };

    const whole = await at.rpc('GetDebugBundle', { run_id: runId });
    const part = await at.rpc('GetDebugBundle', { run_id: runId, max_events: 2 });

    expect(without(whole.document)).toEqual(without(await overHttp(`/v1/runs/${runId}/debug-bundle`)));
    expect(part.document).toMatchObject({ truncated: true });
    expect(part.document['events']).toHaveLength(2);
  });

  it('of the audit log', async () => {
    const { document } = await at.rpc('VerifyAuditLog', { from_seq: 0, to_seq: 1 });

    expect(document).toMatchObject({ chainValid: true, toSeq: 1 });
  });

  it('of an artifact, with what HTTP says in headers', async () => {
    const runId = await reached('produces', 'completed');
    const { artifacts } = await overHttp(`/v1/host/weft/runs/${runId}/artifacts`);
    const [{ artifactId = '' } = {}] = artifacts as { artifactId?: string }[];

    const { document } = await at.rpc('GetArtifact', { run_id: runId, artifact_id: artifactId });

    expect(document).toMatchObject({ mediaType: 'application/json', name: 'report.json', size: 16 });
    expect(String(document['content'])).toBe('{"some":"bytes"}');
  });

  it('of a question behind a link', async () => {
    const runId = await reached('gate', 'waiting-approval');
    const token = String(
      ((await overHttp(`/v1/runs/${runId}`))['interrupt'] as JsonObject)['interruptToken'],
    );

    const { document } = await at.rpc('InspectInterruptByToken', { token }, { key: null });

    expect(withoutDefaults(document)).toEqual(withoutDefaults(await overHttp(`/v1/interrupts/${token}`)));
  });
});

describe('what is done over gRPC is done', () => {
  it('a run is created with inputs, tags and metadata, and its URLs are those of HTTP', async () => {
    const { code, document } = await at.rpc('CreateRun', {
      workflow_id: 'noop',
      inputs: struct({ note: 'x' }),
      tags: ['nightly'],
      metadata: struct({ 'acme.x': { y: [1, null] } }),
    });

    const runId = String(document['runId']);
    expect(code).toBe(OK);
    expect(document['statusUrl']).toBe(`${at.url}/v1/runs/${runId}`);
    expect(document['weft']).toEqual({ ignoredInputs: ['note'] });
    expect(await overHttp(`/v1/runs/${runId}`)).toMatchObject({
      tags: ['nightly'],
      metadata: { 'acme.x': { y: [1, null] } },
    });
  });

  it('a run is paused, resumed and cancelled', async () => {
    const runId = await reached('wait', 'running');

    const paused = await at.rpc('PauseRun', { run_id: runId, drain_policy: 'immediate' });
    await at.reaches(runId, 'paused');
    const resumed = await at.rpc('ResumeRun', { run_id: runId });
    const cancelled = await at.rpc('CancelRun', { run_id: runId, reason: 'enough' });
    const again = await at.rpc('PauseRun', { run_id: runId });

    expect([paused, resumed, cancelled].map(({ document }) => document['status'])).toEqual([
      'paused',
      'running',
      'cancelled',
    ]);
    expect([again.code, again.envelope?.['error']]).toEqual([FAILED_PRECONDITION, 'conflict']);
  });

  it('several runs are cancelled, each with its own result', async () => {
    const runId = await reached('wait', 'running');

    const { document } = await at.rpc('BulkCancelRuns', { run_ids: [runId, 'unknown'] });

    expect(document['results']).toMatchObject([
      { runId, ok: true, status: 'cancelled' },
      { runId: 'unknown', error: { code: 'not_found' } },
    ]);
  });

  it('a run is forked', async () => {
    const source = await reached('produces', 'completed');

    const { document } = await at.rpc('ForkRun', { run_id: source, mode: 'branch', from_seq: 2 });

    expect(document).toMatchObject({ sourceRunId: source, mode: 'branch', fromSeq: 2 });
  });

  it('questions are answered, with a key and through a link', async () => {
    const [byRun, byToken] = [
      await reached('gate', 'waiting-approval'),
      await reached('gate', 'waiting-approval'),
    ];
    const { interrupt } = await overHttp(`/v1/runs/${byToken}`);
    const { interruptToken: token, nodeId } = interrupt as { interruptToken: string; nodeId: string };
    const answer = { resume_value: valueOf({ action: 'accept' }) };

    const first = await at.rpc('ResolveInterruptByRun', { run_id: byRun, node_id: nodeId, ...answer });
    const second = await at.rpc('ResolveInterruptByToken', { token, ...answer }, { key: null });
    const again = await at.rpc('ResolveInterruptByToken', { token, ...answer }, { key: null });

    expect([first.code, second.code]).toEqual([OK, OK]);
    await at.reaches(byRun, 'completed');
    await at.reaches(byToken, 'completed');
    expect([again.code, again.envelope?.['error']]).toEqual([
      FAILED_PRECONDITION,
      'interrupt_already_resolved',
    ]);
  });

  it('a webhook is registered and removed', async () => {
    const url = 'https://example.org/hook';
    const registered = await at.rpc('RegisterWebhook', { url, events: ['run.completed'] });
    const webhookId = String(registered.document['webhookId']);

    const removed = await at.rpc('UnregisterWebhook', { webhook_id: webhookId });
    const again = await at.rpc('UnregisterWebhook', { webhook_id: webhookId });

    expect(registered.document['secret']).toMatch(/^[0-9a-f]{64}$/);
    expect([removed.code, removed.document]).toEqual([OK, {}]);
    expect([again.code, again.envelope?.['error']]).toEqual([NOT_FOUND, 'subscription_not_found']);
  });
});

describe('metadata', () => {
  it('repeats a call under its idempotency key, also when it came over HTTP first', async () => {
    const metadata = { 'idempotency-key': 'both-doors' };
    const first = await at.call('POST', '/v1/runs', { body: { workflowId: 'noop' }, headers: metadata });

    const again = await at.rpc('CreateRun', { workflow_id: 'noop' }, { metadata });
    const other = await at.rpc('CreateRun', { workflow_id: 'steps' }, { metadata });

    expect(again.document['runId']).toBe(first.json['runId']);
    expect(again.metadata.get('openwop-idempotent-replay')).toEqual(['true']);
    expect([other.code, other.envelope?.['error']]).toEqual([ABORTED, 'idempotency_key_mismatch']);
  });

  it('asks the host to wait for the run', async () => {
    const { document, metadata } = await at.rpc(
      'CreateRun',
      { workflow_id: 'noop' },
      { metadata: { prefer: 'wait=10' } },
    );

    expect(document).toMatchObject({
      status: 'completed',
      weft: { lastEvent: { type: 'run.completed' } },
    });
    expect(metadata.get('preference-applied')).toEqual(['wait=10']);
  });

  it('continues the trace of the caller, and carries its request id', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

    const { metadata, document } = await at.rpc(
      'CreateRun',
      { workflow_id: 'noop' },
      { metadata: { traceparent, 'x-request-id': 'mine-1' } },
    );

    const runId = String(document['runId']);
    await at.reaches(runId, 'completed');
    const { spans } = (await overHttp(`/v1/runs/${runId}/debug-bundle`)) as { spans: { traceId: string }[] };
    expect(metadata.get('traceparent')).toEqual([traceparent]);
    expect(metadata.get('x-request-id')).toEqual(['mine-1']);
    expect(spans[0]?.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  });

  it('takes X-Dedup', async () => {
    const asked = { workflow_id: 'wait', scope_id: 'only-one' };
    const metadata = { 'x-dedup': 'enforce' };

    const first = await at.rpc('CreateRun', asked, { metadata });
    const second = await at.rpc('CreateRun', asked, { metadata });

    expect([first.code, second.code]).toEqual([OK, ALREADY_EXISTS]);
    expect(second.envelope?.['details']?.['activeRunId']).toBe(first.document['runId']);
    expect(second.trailers.get('retry-after')).toHaveLength(1);
  });
});

describe('an error', () => {
  it('carries the envelope that HTTP answers with', async () => {
    const wrong = await at.rpc('CreateRun', { workflow_id: 'noop', tags: [''] });
    const { json } = await at.call('POST', '/v1/runs', { body: { workflowId: 'noop', tags: [''] } });

    expect([wrong.code, wrong.details]).toEqual([INVALID_ARGUMENT, json['message']]);
    expect(wrong.envelope).toEqual(json);
  });

  it.each([
    ['no key', null],
    ['an unknown key', 'weft_test_nonsense'],
  ])('of %s is UNAUTHENTICATED, whatever is in the message', async (_, key) => {
    const { code, envelope } = await at.rpc('CreateRun', { workflow_id: '' }, { key });

    expect([code, envelope?.['error']]).toEqual([UNAUTHENTICATED, 'unauthenticated']);
  });

  it('of a key without the scope is PERMISSION_DENIED, and names it', async () => {
    const key = await at.keyWithout('runs:cancel');

    const { code, envelope } = await at.rpc('CancelRun', { run_id: 'x' }, { key });

    expect(code).toBe(PERMISSION_DENIED);
    expect(envelope).toMatchObject({ error: 'forbidden', details: { scopeRequired: 'runs:cancel' } });
  });

  it('about a run of another tenant is that of an unknown run, also when something else is wrong', async () => {
    const { runId } = await at.start('noop');
    const foreign = { key: at.otherTenantKey };
    const wrong = { drain_policy: 'nonsense' };

    const answers = await Promise.all([
      at.rpc('GetRun', { run_id: runId }, foreign),
      at.rpc('GetRun', { run_id: 'unknown' }),
      at.rpc('PauseRun', { run_id: runId, ...wrong }, foreign),
      at.rpc('PauseRun', { run_id: 'unknown', ...wrong }),
      at.rpc('DiffRun', { run_id: runId, against: runId }, foreign),
      at.rpc('GetDebugBundle', { run_id: runId }, foreign),
    ]);

    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => NOT_FOUND));
    expect(new Set(answers.map(({ envelope }) => JSON.stringify(envelope))).size).toBe(1);
  });

  it('about a field names it as JSON does', async () => {
    const { runId } = await at.start('noop');

    const missing = await at.rpc('DiffRun', { run_id: runId });
    const tooMany = await at.rpc('BulkCancelRuns', { run_ids: [] });
    const notANumber = await at.rpc('CreateRun', {
      workflow_id: 'noop',
      inputs: { fields: { x: { numberValue: Number.NaN } } },
    });

    expect([missing, tooMany, notANumber].map(({ code }) => code)).toEqual(
      Array.from({ length: 3 }, () => INVALID_ARGUMENT),
    );
    expect([missing, tooMany, notANumber].map(({ envelope }) => envelope?.['details']?.['field'])).toEqual([
      'against',
      '',
      'inputs.x',
    ]);
  });

  it('of a link that nothing has signed is NOT_FOUND', async () => {
    for (const method of ['InspectInterruptByToken', 'ResolveInterruptByToken'])
      expect((await at.rpc(method, { token: 'nonsense.x' }, { key: null })).code).toBe(NOT_FOUND);
  });
});

describe('limits', () => {
  it('of the rate of a key hold over both doors together', async () => {
    const limited = await openGrpcHarness({ rateLimit: { perSecond: 1, burst: 6 } });
    // What the harness itself has asked has taken some of it.
    const codes: number[] = [];
    for (let call = 0; call < 4; call += 1) codes.push((await limited.rpc('GetRun', { run_id: 'x' })).code);
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await limited.call('GET', '/v1/runs/x')).status);
    const refused = await limited.rpc('GetRun', { run_id: 'x' });
    await limited.close();

    expect(codes[0]).toBe(NOT_FOUND);
    expect(statuses.at(-1)).toBe(429);
    expect([refused.code, refused.envelope?.['error']]).toEqual([RESOURCE_EXHAUSTED, 'rate_limited']);
    expect(Number(refused.trailers.get('retry-after')[0])).toBeGreaterThan(0);
  });
});

import type { Annotation, AnnotationCreate } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { node, variable } from '../../core/testing/definitions.ts';
import type { IdempotencyClaim } from '../../host/host.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const FLAG: AnnotationCreate = { signal: { kind: 'flag' } };

let test: TestHost;
let runId: string;

beforeEach(async () => {
  test = await startHost();
  const workflowId = await test.register({
    nodes: [node('work')],
    variables: [variable('pin', { sensitive: true })],
  });
  runId = await test.run(workflowId, { inputs: { pin: 'blue elephant' } });
  await until(async () => (await test.status(runId)) === 'completed');
});

afterEach(() => test.host.stop(100));

async function annotated(
  request: AnnotationCreate = FLAG,
  claim?: IdempotencyClaim<unknown>,
): Promise<Annotation> {
  const answer = await test.host.annotations.create(alice, runId, request, claim);
  if (answer === undefined || answer.replayed) throw new Error('it was not new');
  return answer.annotation;
}

const claim: IdempotencyClaim<unknown> = {
  operation: 'POST /v1/runs/{runId}/annotations',
  keyHash: 'a'.repeat(64),
  requestDigest: 'b'.repeat(64),
  render: (outcome) => ({ status: 201, body: JSON.stringify(outcome) }),
};

describe('an annotation', () => {
  it('is on record in the audit trail together with itself', async () => {
    const { annotationId } = await annotated();

    const trail = await test.store.readAudit(0, 1_000);
    expect(trail.filter(({ action }) => action === 'run.annotate')).toMatchObject([
      { actor: 'alice', target: runId, details: { annotationId, kind: 'flag' } },
    ]);
  });

  it('leaves the log as it was', async () => {
    const before = await test.types(runId);

    await annotated();

    expect(await test.types(runId)).toEqual(before);
  });

  it('does not repeat what the run keeps secret', async () => {
    const { note } = await annotated({ ...FLAG, note: 'the pin is blue elephant' });

    expect(note).toBe('the pin is [REDACTED]');
  });

  it('happens once when the same request comes many times at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => test.host.annotations.create(alice, runId, FLAG, claim)),
    );

    expect(answers.filter((answer) => answer?.replayed === false)).toHaveLength(1);
    expect(await test.host.annotations.list(alice, runId)).toHaveLength(1);
  });

  it('belongs to its tenant', async () => {
    await annotated();

    expect(await test.host.annotations.create(stranger, runId, FLAG)).toBeUndefined();
    expect(await test.host.annotations.list(stranger, runId)).toBeUndefined();
    expect(await test.host.annotations.list(alice, 'no-such-run')).toBeUndefined();
  });

  it('is refused when a run has as many as one answer can hold', async () => {
    await test.store.commit(
      Array.from({ length: 1_000 }, (_, index) => ({
        kind: 'document' as const,
        batchId: `batch-${index}`,
        tenant: alice.tenant,
        collection: 'annotation',
        scope: runId,
        id: `ann_${index}`,
        body: '{}',
        at: index,
      })),
    );

    await expect(annotated()).rejects.toMatchObject({ code: 'conflict', details: { limit: 1_000 } });
  });
});

describe('a subscriber', () => {
  it('gets each annotation of its run once, until it unsubscribes', async () => {
    const heard: string[] = [];
    const stop = test.host.annotations.subscribe(runId, (document) => heard.push(document));
    test.host.annotations.subscribe('another-run', () => heard.push('wrong'));

    const annotation = await annotated({ ...FLAG, target: { nodeId: 'work' } }, claim);
    await test.host.annotations.create(alice, runId, { ...FLAG, target: { nodeId: 'work' } }, claim);
    stop();
    await annotated();

    expect(heard.map((document) => JSON.parse(document) as unknown)).toEqual([
      {
        eventId: annotation.annotationId,
        runId,
        type: 'run.annotated',
        timestamp: annotation.createdAt,
        nodeId: 'work',
        payload: annotation,
      },
    ]);
  });
});

import type { Check } from '../../suite/check.ts';
import { expectMarked, isMarked, keyHeader, runIdOf } from './replay.ts';

/** Keys on operations other than the creation of runs. */
export const IDEMPOTENT_OPERATION_CHECKS: readonly Check[] = [
  {
    id: 'idempotency/per-operation',
    title: 'the same key on another operation is another key',
    proves: ['IDEM-9'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run(context) {
      const { runs, host, expect, unique } = context;
      const headers = keyHeader(unique());
      const created = await runs.tryCreate('conformance-cancellable', {}, { headers });
      expect.status(created, 201);
      const runId = runIdOf(context, created);

      const cancelled = await host.request('POST', `/v1/runs/${runId}/cancel`, { headers, body: {} });

      expect.status(cancelled, 200);
      expect.that(!isMarked(cancelled), 'the key of a creation does not answer for a cancel');
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'cancelled', 'the cancel is carried out');
    },
  },
  {
    id: 'idempotency/cancel',
    title: 'a repeated cancel has the stored answer',
    proves: ['IDEM-24'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ runs, host, expect, unique }) {
      const runId = await runs.create('conformance-cancellable');
      const headers = keyHeader(unique());
      const cancel = () => host.request('POST', `/v1/runs/${runId}/cancel`, { headers, body: {} });

      const first = await cancel();
      await runs.ended(runId);
      const second = await cancel();

      expect.status(first, 200);
      expect.that(!isMarked(first), 'the first answer to a key is not marked as a repeated one');
      expect.status(second, 200);
      expect.equal(second.json, first.json, 'a repeated cancel has the body of the first');
      expectMarked({ expect }, second);
    },
  },
  {
    id: 'idempotency/other-run',
    title: 'a key that was used on one run does not answer for another',
    proves: ['IDEM-11'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ runs, host, expect, unique }) {
      const one = await runs.create('conformance-cancellable');
      const other = await runs.create('conformance-cancellable');
      const headers = keyHeader(unique());
      const cancel = (runId: string) =>
        host.request('POST', `/v1/runs/${runId}/cancel`, { headers, body: {} });
      expect.status(await cancel(one), 200);

      const answer = await cancel(other);

      expect.status(answer, 200, 409);
      expect.absent(answer.text, one, 'the answer does not speak of the run that the key was used on first');
      if (answer.status === 409) expect.status(await runs.cancel(other), 200);
      const ended = await runs.ended(other);
      expect.equal(ended['status'], 'cancelled', 'the other run is cancelled when the answer says so');
    },
  },
  {
    id: 'idempotency/fork',
    title: 'a repeated fork makes one fork',
    proves: ['IDEM-25'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, host, expect, unique } = context;
      const runId = await runs.endedRun('conformance-noop');
      const headers = keyHeader(unique());
      const fork = () =>
        host.request('POST', `/v1/runs/${runId}:fork`, { headers, body: { mode: 'replay', fromSeq: 0 } });

      const first = await fork();
      const second = await fork();

      expect.status(first, 201);
      expect.status(second, 200, 201);
      expect.equal(
        runIdOf(context, second),
        runIdOf(context, first),
        'a repeated fork has the runId of the first',
      );
      expectMarked(context, second);
    },
  },
  {
    id: 'idempotency/annotation',
    title: 'a repeated annotation is one annotation',
    proves: ['IDEM-26'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, host, expect, unique }) {
      const runId = await runs.endedRun('conformance-noop');
      const path = `/v1/runs/${runId}/annotations`;
      const headers = keyHeader(unique());
      const body = { signal: { kind: 'label', label: 'conformance' } };

      const first = await host.request('POST', path, { headers, body });
      const second = await host.request('POST', path, { headers, body });

      expect.status(first, 201);
      expect.status(second, 200, 201);
      expectMarked({ expect }, second);
      const listed = await host.request('GET', path);
      const { annotations } = expect.object(listed.json, 'annotations are answered with an object');
      const all = expect.array(annotations, 'annotations are a list');
      expect.that(all.length === 1, 'a repeated annotation is there once', all.length, 1);
    },
  },
  {
    id: 'idempotency/interrupt',
    title: 'a repeated answer to an interrupt is not one that comes too late',
    proves: ['IDEM-27'],
    needs: { fixtures: ['conformance-approval'] },
    async run({ runs, expect, unique }) {
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      const options = { headers: keyHeader(unique()) };

      const first = await runs.resolve(runId, 'gate', { action: 'accept' }, options);
      await runs.ended(runId);
      const second = await runs.resolve(runId, 'gate', { action: 'accept' }, options);

      expect.status(first, 200);
      expect.status(second, 200);
      expectMarked({ expect }, second);
    },
  },
  {
    id: 'idempotency/pause',
    title: 'a repeated pause has the first answer although the run is paused by then',
    proves: ['IDEM-28'],
    needs: { fixtures: ['conformance-cancellable'] },
    async run({ runs, host, expect, unique }) {
      const runId = await runs.create('conformance-cancellable');
      await runs.reaches(runId, 'running');
      const headers = keyHeader(unique());
      const body = { drainPolicy: 'immediate' };
      const pause = () => host.request('POST', `/v1/runs/${runId}:pause`, { headers, body });

      const first = await pause();
      await runs.reaches(runId, 'paused');
      const second = await pause();

      expect.status(first, 202);
      expect.status(second, 202);
      expectMarked({ expect }, second);
      await runs.cancel(runId);
    },
  },
];

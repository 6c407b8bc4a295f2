import { openMemoryStore } from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

async function waiting(workflowId = 'gate', status = 'waiting-approval'): Promise<string> {
  const { runId } = await at.start(workflowId);
  await at.reaches(runId, status);
  return runId;
}

const answer = (runId: string, resumeValue: Json, nodeId = 'gate', options: { key?: string } = {}) =>
  at.call('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { body: { resumeValue }, ...options });
const log = async (runId: string) => (await at.call('GET', `/v1/runs/${runId}/events/poll?timeout=1`)).text;

describe('a question', () => {
  it('stands on the snapshot of the run that waits for its answer', async () => {
    const runId = await waiting();

    const { json } = await at.call('GET', `/v1/runs/${runId}`);

    expect(json).toMatchObject({ status: 'waiting-approval', currentNodeId: 'gate' });
    expect(json.interrupt).toMatchObject({ kind: 'approval', nodeId: 'gate', data: { title: 'Ship it?' } });
    expect(String(json.interrupt?.callbackUrl)).toContain(
      `/v1/interrupts/${String(json.interrupt?.interruptToken)}`,
    );
  });

  it('is never in an event with its link', async () => {
    const runId = await waiting();
    const { json } = await at.call('GET', `/v1/runs/${runId}`);

    expect(await log(runId)).not.toContain(String(json.interrupt?.interruptToken).slice(0, 40));
  });

  it('hides its link from a key that may not answer', async () => {
    const runId = await waiting();
    const reader = await at.keyWithout('approvals:respond');

    const { json } = await at.call('GET', `/v1/runs/${runId}`, { key: reader });

    expect(json.interrupt?.nodeId).toBe('gate');
    expect(json.interrupt?.interruptToken).toBeUndefined();
    expect((await answer(runId, { action: 'accept' }, 'gate', { key: reader })).json.error).toBe('forbidden');
  });

  it('is listed with the others of its tenant, and of no other', async () => {
    const runId = await waiting();

    const mine = await at.call('GET', '/v1/host/weft/interrupts');
    const others = await at.call('GET', '/v1/host/weft/interrupts', { key: at.otherTenantKey });

    expect(mine.text).toContain(runId);
    expect(others.text).not.toContain(runId);
  });
});

describe('an answer', () => {
  it('is taken once: 200, then 409', async () => {
    const runId = await waiting();

    const first = await answer(runId, { action: 'accept' });
    const second = await answer(runId, { action: 'reject' });

    expect([first.status, first.json.status]).toEqual([200, 'completed']);
    expect([second.status, second.json.error]).toEqual([409, 'interrupt_already_resolved']);
  });

  it.each([
    [{ action: 'maybe' }, 400, 'validation_error'],
    ['accept', 400, 'validation_error'],
  ])('of %j changes nothing', async (value, status, code) => {
    const runId = await waiting();
    const before = await log(runId);

    const refused = await answer(runId, value);

    expect([refused.status, refused.json.error]).toEqual([status, code]);
    expect(await log(runId)).toBe(before);
  });

  it('to a node that asked nothing, an unknown run and another tenant’s run is 404', async () => {
    const runId = await waiting();

    expect((await answer(runId, { action: 'accept' }, 'other')).json.error).toBe('interrupt_not_found');
    expect((await answer('zzz', { action: 'accept' })).json.error).toBe('not_found');
    expect((await answer(runId, { action: 'accept' }, 'gate', { key: at.otherTenantKey })).json.error).toBe(
      'not_found',
    );
  });

  it('after a cancel is 410, and 409 on the alias', async () => {
    const runId = await waiting();
    await at.call('POST', `/v1/runs/${runId}/cancel`);

    const late = await answer(runId, { action: 'accept' });
    const alias = await at.call('POST', `/v1/runs/${runId}/approvals/gate`, { body: { action: 'accept' } });

    expect([late.status, late.json.error]).toEqual([410, 'interrupt_gone']);
    expect([alias.status, alias.json.error]).toEqual([409, 'interrupt_already_resolved']);
  });

  it('and a cancel that race: exactly one of them decides', async () => {
    const runId = await waiting();

    const [cancelled, answered] = await Promise.all([
      at.call('POST', `/v1/runs/${runId}/cancel`),
      answer(runId, { action: 'accept' }),
    ]);

    const run = await at.call('GET', `/v1/runs/${runId}`);
    expect(cancelled.status).toBe(200);
    expect([200, 409, 410]).toContain(answered.status);
    expect(run.json.status).toBe(answered.status === 200 ? 'completed' : 'cancelled');
  });

  it('of two at the same time is taken once', async () => {
    const runId = await waiting();

    const answers = await Promise.all(Array.from({ length: 5 }, () => answer(runId, { action: 'accept' })));

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
  });

  it('with the same Idempotency-Key is answered the same', async () => {
    const runId = await waiting();
    const call = () =>
      at.call('POST', `/v1/runs/${runId}/interrupts/gate`, {
        body: { resumeValue: { action: 'accept' } },
        headers: { 'idempotency-key': `answer-${runId}` },
      });

    const first = await call();
    const again = await call();

    expect([again.status, again.text, again.headers['openwop-idempotent-replay']]).toEqual([
      200,
      first.text,
      'true',
    ]);
  });

  it('with an unknown field next to resumeValue is 400', async () => {
    const runId = await waiting();

    const typo = await at.call('POST', `/v1/runs/${runId}/interrupts/gate`, {
      body: { resumeValue: {}, voter: 'x' },
    });

    expect(typo.json.details?.field).toBe('voter');
  });

  it('goes through the older path too', async () => {
    const runId = await waiting();

    const taken = await at.call('POST', `/v1/runs/${runId}/approvals/gate`, { body: { action: 'accept' } });

    expect(taken.json.status).toBe('completed');
  });
});

describe('a signed link', () => {
  const linkOf = async (runId: string) =>
    String((await at.call('GET', `/v1/runs/${runId}`)).json.interrupt?.interruptToken);
  const post = (token: string, resumeValue: Json) =>
    at.call('POST', `/v1/interrupts/${token}`, { key: null, body: { resumeValue } });

  it('shows its question and takes its answer, without a key', async () => {
    const runId = await waiting();
    const token = await linkOf(runId);

    const shown = await at.call('GET', `/v1/interrupts/${token}`, { key: null });
    const linked = await at.call('GET', `/v1/host/weft/interrupts/${token}`, { key: null });
    const taken = await post(token, { action: 'accept' });

    expect(shown.json).toEqual({ kind: 'approval', key: 'gate:0', data: expect.any(Object) as unknown });
    expect(linked.json).toMatchObject({ question: shown.json, workflow: { id: 'gate' } });
    expect(taken.json).toMatchObject({ runId, nodeId: 'gate', status: 'completed' });
  });

  it('answers a repeat with the same Idempotency-Key with the outcome of the first', async () => {
    const runId = await waiting();
    const send = async (resumeValue: Json, key: string) =>
      at.call('POST', `/v1/interrupts/${token}`, {
        key: null,
        body: { resumeValue },
        headers: { 'idempotency-key': key },
      });
    const token = await linkOf(runId);

    const first = await send({ action: 'accept' }, 'mine');
    const again = await send({ action: 'accept' }, 'mine');
    const changed = await send({ action: 'reject' }, 'mine');
    const others = await send({ action: 'accept' }, 'not-mine');

    expect([first.status, first.json]).toEqual([200, { runId, nodeId: 'gate', status: 'completed' }]);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
    expect([changed.status, changed.json.error]).toEqual([409, 'idempotency_key_mismatch']);
    expect([others.status, others.json.error]).toEqual([409, 'interrupt_already_resolved']);
  });

  it('dies with the answer and with the run', async () => {
    const [answered, cancelled] = [await waiting(), await waiting()];
    const tokens = [await linkOf(answered), await linkOf(cancelled)];
    await answer(answered, { action: 'accept' });
    await at.call('POST', `/v1/runs/${cancelled}/cancel`);

    for (const token of tokens) {
      expect((await post(token, { action: 'accept' })).status).toBe(409);
      for (const path of ['/v1/interrupts', '/v1/host/weft/interrupts'])
        expect((await at.call('GET', `${path}/${token}`, { key: null })).status).toBe(409);
    }
  });

  it('is looked at before the body', async () => {
    const raw = '{ not JSON';
    const headers = { 'content-type': 'application/json' };

    const answer = await at.call('POST', '/v1/interrupts/made.up', { key: null, raw, headers });

    expect([answer.status, answer.json.error]).toEqual([404, 'interrupt_not_found']);
  });

  it('that was forged, cut or made up is 404', async () => {
    const token = await linkOf(await waiting());
    const [payload = '', mac = ''] = token.split('.');
    const other = Buffer.from(JSON.stringify({ runId: 'x', intent: 'resolve' })).toString('base64url');

    for (const forged of [`${other}.${mac}`, payload, `${payload}.AAAA`, 'nonsense', `${token}x`]) {
      expect((await post(forged, { action: 'accept' })).json.error).toBe('interrupt_not_found');
    }
  });

  it('stays valid over one rotation of the link key, and a repeat of the request rotates once', async () => {
    const token = await linkOf(await waiting());
    const rotate = (id: string) =>
      at.call('POST', '/v1/host/weft/link-keys:rotate', { headers: { 'idempotency-key': id } });

    const [first, repeated] = [await rotate('one'), await rotate('one')];
    const kept = await at.call('GET', `/v1/interrupts/${token}`, { key: null });
    const second = await rotate('two');

    expect(repeated.json).toEqual(first.json);
    expect(second.json.previousKeyId).toBe(first.json.keyId);
    expect(kept.status).toBe(200);
    expect((await post(token, { action: 'accept' })).json.error).toBe('interrupt_not_found');
  });

  it('is not given out for a gate that needs a key', async () => {
    const runId = await waiting('keyed-gate');

    expect(await linkOf(runId)).toBe('undefined');
  });

  it('takes an event that carries its correlation, and no other', async () => {
    const runId = await waiting('event', 'waiting-external');
    const token = await linkOf(runId);

    const wrong = await post(token, { order: 2 });
    const right = await post(token, { order: 1, paid: true });

    expect([wrong.status, wrong.json.error]).toEqual([422, 'correlation_mismatch']);
    expect(right.json.status).toBe('completed');
  });
});

describe('votes', () => {
  it('are taken one by one until there are enough', async () => {
    const runId = await waiting('quorum');
    const vote = (voter: string) => answer(runId, { action: 'accept', voter });

    const statuses: unknown[] = [];
    for (const voter of ['ada', 'bob', 'cyd']) statuses.push((await vote(voter)).json.status);

    expect(statuses).toEqual(['waiting-approval', 'waiting-approval', 'completed']);
  });

  it('of user keys count for their principal', async () => {
    const runId = await waiting('listed');
    const scopes = ['approvals:respond', 'runs:read'];
    const ada = await at.createKey({ principal: 'ada', kind: 'user', scopes });
    const eve = await at.createKey({ principal: 'eve', kind: 'user', scopes });

    const stranger = await answer(runId, { action: 'accept', voter: 'ada' }, 'gate', { key: eve.key });
    const listed = await answer(runId, { action: 'accept' }, 'gate', { key: ada.key });

    expect([stranger.status, stranger.json.error]).toEqual([403, 'forbidden']);
    expect(listed.json.status).toBe('completed');
  });
});

describe('why', () => {
  it('names the command that answers', async () => {
    const runId = await waiting();

    const { json } = await at.call('GET', `/v1/host/weft/runs/${runId}/why`);

    expect(json as unknown as JsonObject).toMatchObject({ waitingFor: 'interrupt', nodeId: 'gate' });
    expect(String(json.sentence)).toContain(`weft approve ${runId} gate`);
  });
});

describe('a conversation', () => {
  beforeAll(() =>
    register('talk', [
      plain('talk', 'core.conversationGate', { prompt: 'Well?', schema: { type: 'string', maxLength: 9 } }),
    ]),
  );

  it('takes turns until a caller closes it', async () => {
    const runId = await waiting('talk');

    const first = await answer(runId, { content: 'one' }, 'talk');
    const second = await answer(runId, { content: 'two' }, 'talk');
    const closed = await answer(runId, { operation: 'close', outcome: 'agreed' }, 'talk');
    const late = await answer(runId, { content: 'more' }, 'talk');

    expect([first.json.status, second.json.status, closed.json.status]).toEqual([
      'waiting-approval',
      'waiting-approval',
      'completed',
    ]);
    expect([late.status, late.json.error]).toEqual([409, 'interrupt_already_resolved']);
  });

  it.each([[{ content: 'far too long for it' }], [{ operation: 'shout' }], [{}]])(
    'refuses the turn %j with 400 and changes nothing',
    async (turn) => {
      const runId = await waiting('talk');
      const before = await log(runId);

      const refused = await answer(runId, turn, 'talk');

      expect([refused.status, refused.json.error]).toEqual([400, 'validation_error']);
      expect(await log(runId)).toBe(before);
    },
  );
});

describe('the question of a child run', () => {
  beforeAll(() => register('asking-parent', [plain('sub', 'core.subWorkflow', { workflowId: 'gate' })]));

  const childOf = async (runId: string): Promise<string> => {
    const { text } = await at.call('GET', `/v1/runs/${runId}`);
    return (JSON.parse(text) as { childRuns: { runId: string }[] }).childRuns[0]?.runId ?? '';
  };

  it('is answered at the child; the parent has no open interrupt', async () => {
    const runId = await waiting('asking-parent');

    const atParent = await answer(runId, { action: 'accept' }, 'sub');
    const atChild = await answer(await childOf(runId), { action: 'accept' });

    expect([atParent.status, atParent.json.error]).toEqual([404, 'interrupt_not_found']);
    expect(atChild.status).toBe(200);
    await at.reaches(runId, 'completed');
  });

  it('is gone when the parent is cancelled', async () => {
    const runId = await waiting('asking-parent');
    const child = await childOf(runId);

    await at.call('POST', `/v1/runs/${runId}/cancel`, { body: {} });
    await at.reaches(child, 'cancelled');

    expect((await answer(child, { action: 'accept' })).status).toBe(410);
  });
});

function plain(id: string, typeId: string, config: JsonObject): JsonObject {
  return { id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {} };
}

async function register(id: string, nodes: JsonObject[]): Promise<void> {
  const empty = { edges: [], variables: [], metadata: {}, settings: {} };
  const triggers = [{ id: 'manual', type: 'manual' }];
  const body = { id, name: id, version: '1.0', nodes, triggers, ...empty };
  const registered = await at.call('POST', '/v1/host/weft/workflows', { body });
  if (registered.status !== 201) throw new Error(registered.text);
}

describe('answers to a run that another process holds and does not look after', () => {
  it('are kept with 202, and only one of them is taken', async () => {
    const store = openMemoryStore();
    const limits = { commandWaitMs: 50, parkAfterMs: 0, pollMs: 50 };
    const here = await openHarness({}, undefined, undefined, { store, limits });
    const { runId } = await here.start('gate');
    await here.reaches(runId, 'waiting-approval');
    await store.heartbeat('another process', 60_000);
    await vi.waitFor(async () => expect(await store.claim(runId, 'another process')).toBeDefined());
    const give = (action: string) =>
      here.call('POST', `/v1/runs/${runId}/interrupts/gate`, {
        body: { resumeValue: { action } },
        headers: { 'idempotency-key': action },
      });

    const early = [await give('accept'), await give('reject')];
    await store.releaseAll('another process');
    await here.reaches(runId, 'completed');
    const late = [await give('accept'), await give('reject')];

    expect(early.map(({ status }) => status)).toEqual([202, 202]);
    expect(late.map(({ status }) => status)).toEqual([200, 409]);
    await here.close();
  });
});

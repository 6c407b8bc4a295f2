import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { definition, node } from '../../core/testing/definitions.ts';
import type { IngestAnswer, NewTrigger, TriggerScheme } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import {
  GITHUB_ISSUE,
  PROTOCOL_EVENT,
  type SampleDelivery,
  SIGNED_AT,
  SLACK_BUTTON,
  SLACK_CHALLENGE,
  SLACK_MENTION,
  STRIPE_INVOICE,
} from './testing/sample-deliveries.ts';

const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost & { clock: TestClock }> {
  const clock = (options.clock as TestClock | undefined) ?? testClock(SIGNED_AT);
  const test = await startHost({ ...options, clock, limits: { claimTtlMs: 1e9, ...options.limits } });
  opened.push(test);
  await test.register(TRIAGE);
  return { ...test, clock };
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const TRIAGE = {
  nodes: [node('a')],
  variables: [
    { name: 'title', type: 'string' },
    { name: 'number', type: 'number' },
    { name: 'triggerData', type: 'object' },
  ],
};

function triggerFor(scheme: TriggerScheme, more: Partial<NewTrigger> = {}): NewTrigger {
  return {
    workflowId: 'test-workflow',
    scheme,
    dedupEnabled: true,
    retryPolicy: { maxAttempts: 1, backoff: 'none' },
    ...more,
  };
}

async function made(test: TestHost, request: NewTrigger): Promise<{ id: string; secret?: string }> {
  const created = await test.host.triggers.create(alice, request);
  if (created.replayed) throw new Error('made without a key');
  return { id: created.trigger.id, ...(created.secret !== undefined && { secret: created.secret }) };
}

function send(
  test: TestHost,
  triggerId: string,
  { headers, body }: Omit<SampleDelivery, 'secret'>,
): Promise<IngestAnswer> {
  return test.host.triggers.ingest({ triggerId, headers, body: Buffer.from(body) });
}

/** In the protocol's own scheme, signed here with node:crypto and not by what is under test. */
function signed(
  secret: string,
  body: string,
  at: number,
  more: Record<string, string> = {},
): Omit<SampleDelivery, 'secret'> {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'openwop-timestamp': timestamp,
    'openwop-signature': `sha256=${signature}`,
    ...more,
  };
  return { headers, body };
}

const inputsOf = async ({ store }: TestHost, runId: string) =>
  (await store.readRun(runId, undefined))?.record.inputs;

describe('a delivery', () => {
  it.each([
    [
      'github',
      GITHUB_ISSUE,
      { title: 'body.issue.title', number: 'body.issue.number' },
      { title: 'Login fails with Zoë’s account', number: 17 },
    ],
    [
      'stripe',
      STRIPE_INVOICE,
      { title: 'body.type', number: 'body.data.object.amount_due' },
      { title: 'invoice.payment_failed', number: 1999 },
    ],
    ['slack', SLACK_MENTION, { title: 'body.event.text' }, { title: '<@U0BOT> is the shop down?' }],
    ['slack', SLACK_BUTTON, { title: 'body.user.id' }, { title: 'U0INVENT' }],
    ['hmac', PROTOCOL_EVENT, { title: 'body.hello' }, { title: 'world' }],
  ] as const)(
    'of %s starts a run with the mapped inputs, once (D-11)',
    async (scheme, sample, inputMapping, inputs) => {
      const test = await open();
      const { id } = await made(test, triggerFor(scheme, { secret: sample.secret, inputMapping }));

      const first = await send(test, id, sample);
      const again = await send(test, id, sample);

      expect(first).toMatchObject({ outcome: 'started' });
      const { runId } = first as { runId: string };
      expect(again).toEqual({ outcome: 'duplicate', runId });
      expect(await inputsOf(test, runId)).toEqual(inputs);
      const { rows } = await test.host.runs.list(alice, { source: `trigger:${id}` }, { limit: 10 });
      expect(rows).toMatchObject([{ runId, source: `trigger:${id}` }]);
      expect(await test.types(runId)).toContain('trigger.delivery.attempted');
    },
  );

  it('starts one run when it arrives ten times at once, at two processes (D-11)', async () => {
    const clock = testClock(SIGNED_AT);
    const store = openMemoryStore({ clock: clock.now });
    const hosts = [await open({ clock, store }), await open({ clock, store })];
    const [one] = hosts;
    if (one === undefined) throw new Error('there are two');
    const { id } = await made(one, triggerFor('github', { secret: GITHUB_ISSUE.secret }));

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => send(hosts[index % 2] ?? one, id, GITHUB_ISSUE)),
    );

    expect(answers.filter(({ outcome }) => outcome === 'started')).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(9);
    expect((await one.host.runs.list(alice, { source: `trigger:${id}` }, { limit: 10 })).rows).toHaveLength(
      1,
    );
  });

  it('gives the run all of it where no mapping says what to take, without credentials', async () => {
    const test = await open();
    const { id } = await made(test, triggerFor('github', { secret: GITHUB_ISSUE.secret }));

    const { runId } = (await send(test, id, GITHUB_ISSUE)) as { runId: string };

    const inputs = await inputsOf(test, runId);
    expect(inputs).toMatchObject({
      triggerData: {
        source: 'webhook',
        subscriptionId: id,
        verified: true,
        contentTrust: 'untrusted',
        webhook: { method: 'POST', headers: { 'x-github-event': 'issues' }, body: { action: 'opened' } },
      },
    });
    expect(JSON.stringify(inputs)).not.toContain('hub-signature');
  });

  it('that only asks whether anyone is there is answered, and starts nothing', async () => {
    const test = await open();
    const slack = await made(test, triggerFor('slack', { secret: SLACK_CHALLENGE.secret }));
    const github = await made(test, triggerFor('github', { secret: GITHUB_ISSUE.secret }));
    const ping = { ...GITHUB_ISSUE, headers: { ...GITHUB_ISSUE.headers, 'x-github-event': 'ping' } };

    expect(await send(test, slack.id, SLACK_CHALLENGE)).toMatchObject({
      outcome: 'answered',
      answer: { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' },
    });
    expect(await send(test, github.id, ping)).toMatchObject({ outcome: 'answered' });
    expect((await test.host.runs.list(alice, {}, { limit: 5 })).rows).toEqual([]);
  });

  it('is refused alike with a wrong signature, none, an old one, and at an unknown trigger (D-9, D-10)', async () => {
    const test = await open();
    const { id } = await made(test, triggerFor('stripe', { secret: STRIPE_INVOICE.secret }));
    const changed = { ...STRIPE_INVOICE, body: STRIPE_INVOICE.body.replace('1999', '1') };
    const unsigned = { ...STRIPE_INVOICE, headers: { 'content-type': 'application/json' } };
    const refusal = async (triggerId: string, sample: Omit<SampleDelivery, 'secret'>) =>
      await send(test, triggerId, sample).then(
        () => 'accepted',
        ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
      );

    const refusals = [
      await refusal(id, changed),
      await refusal(id, unsigned),
      await refusal('tr_unknown', STRIPE_INVOICE),
      await refusal('', STRIPE_INVOICE),
    ];
    test.clock.advance(5 * 60_000 + 1);
    refusals.push(await refusal(id, STRIPE_INVOICE));

    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toMatch(/^unauthenticated: /);
    expect((await test.host.deadLetters.list(alice, `trigger:${id}`, { limit: 5 })).rows).toEqual([]);
  });

  it('may be five minutes old, and is remembered for a day', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('hmac'));
    const sample = (at: number) => signed(secret, '{"n":1}', at, { 'openwop-delivery-id': 'one' });
    const start = test.clock.now();
    test.clock.advance(5 * 60_000);
    expect(await send(test, id, sample(start))).toMatchObject({ outcome: 'started' });

    test.clock.advance(23 * 60 * 60_000);
    expect(await send(test, id, sample(test.clock.now()))).toMatchObject({ outcome: 'duplicate' });
    test.clock.advance(2 * 60 * 60_000);
    expect(await send(test, id, sample(test.clock.now()))).toMatchObject({ outcome: 'started' });
  });

  it('that was captured starts nothing under another id, as long as its signature is valid (D-11)', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('hmac'));
    const start = test.clock.now();
    const sample = (at: number, name: string) =>
      signed(secret, '{"n":1}', at, { 'openwop-delivery-id': name });
    expect(await send(test, id, sample(start, 'one'))).toMatchObject({ outcome: 'started' });

    const repeated = await Promise.all(['two', 'three'].map((name) => send(test, id, sample(start, name))));
    expect(repeated).toEqual([{ outcome: 'duplicate' }, { outcome: 'duplicate' }]);
    test.clock.advance(5 * 60_000);
    expect(await send(test, id, sample(start, 'four'))).toEqual({ outcome: 'duplicate' });

    expect(await send(test, id, sample(test.clock.now(), 'five'))).toMatchObject({ outcome: 'started' });
    expect((await test.host.runs.list(alice, {}, { limit: 5 })).rows).toHaveLength(2);
  });

  it('with a shared secret is let in by it, in either header, and by no other', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('shared-secret'));
    const with_ = (headers: Record<string, string>) => send(test, id, { headers, body: '{}' });

    expect(await with_({ 'x-weft-secret': secret })).toMatchObject({ outcome: 'started' });
    expect(await with_({ authorization: `Bearer ${secret}` })).toMatchObject({ outcome: 'started' });
    await expect(with_({ 'x-weft-secret': `${secret}x` })).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(with_({ 'x-weft-secret': '' })).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it.each([
    ['{not json', 'application/json', 'body_unreadable'],
    ['{"a":1,"a":2}', 'application/json', 'body_unreadable'],
    ['<xml/>', 'application/xml', 'body_unreadable'],
    ['{"other":1}', 'application/json', 'mapping_failed'],
    ['{"hello":7}', 'application/json', 'validation_error'],
  ])('%j is kept as a dead letter with the reason, once (D-12)', async (body, type, reason) => {
    const test = await open();
    const { id, secret = '' } = await made(
      test,
      triggerFor('hmac', { inputMapping: { title: 'body.hello' } }),
    );
    const sample = signed(secret, body, test.clock.now(), { 'content-type': type });

    expect(await send(test, id, sample)).toMatchObject({ outcome: 'dead-lettered', reason });

    const { rows } = await test.host.deadLetters.list(alice, `trigger:${id}`, { limit: 5 });
    expect(rows).toMatchObject([{ reason, attempts: 1, bytes: body.length }]);
    expect((await test.host.deadLetters.list(stranger, `trigger:${id}`, { limit: 5 })).rows).toEqual([]);
    expect(await send(test, id, sample)).toEqual({ outcome: 'duplicate' });
    expect((await test.host.runs.list(alice, {}, { limit: 5 })).rows).toEqual([]);
  });

  it('that was kept is replayed once its workflow takes it', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('hmac', { inputMapping: { number: 'body.n' } }));
    const answer = await send(test, id, signed(secret, '{"n":"seven"}', test.clock.now()));
    const { deadLetterId } = answer as { deadLetterId: string };
    const source = `trigger:${id}`;
    await expect(test.host.deadLetters.replay(alice, source, deadLetterId)).rejects.toThrow('inputs.number');
    const lenient = definition({ nodes: [node('a')], variables: [{ name: 'number', type: 'string' }] });
    await test.host.workflows.register(alice, { ...lenient, version: '2' }, { strict: false, dev: false });

    const replayed = await test.host.deadLetters.replay(alice, source, deadLetterId);

    expect(await inputsOf(test, replayed?.runId ?? '')).toEqual({ number: 'seven' });
    expect((await test.host.deadLetters.list(alice, source, { limit: 5 })).rows).toEqual([]);
    expect(await test.host.deadLetters.replay(alice, source, deadLetterId)).toBeUndefined();
  });

  it('is taken no more when the trigger has as many dead letters as are kept', async () => {
    const test = await open({ limits: { maxDeadLetters: 2 } });
    const { id, secret = '' } = await made(test, triggerFor('hmac', { inputMapping: { title: 'body.x' } }));
    const sample = (n: number) => signed(secret, `{"n":${n}}`, test.clock.now());
    await send(test, id, sample(1));
    await send(test, id, sample(2));

    await expect(send(test, id, sample(3))).rejects.toMatchObject({ code: 'dead_letters_full' });

    expect(await test.host.triggers.get(alice, id)).toMatchObject({ state: 'dead-lettered' });
    const { rows } = await test.host.deadLetters.list(alice, `trigger:${id}`, { limit: 5 });
    await test.host.deadLetters.remove(alice, `trigger:${id}`, rows[0]?.id ?? '');
    expect(await test.host.triggers.get(alice, id)).toMatchObject({ state: 'active' });
  });

  it('is limited per trigger, and strangers do not use that up', async () => {
    const test = await open({ limits: { deliveriesPerMinute: 20 } });
    const { id, secret = '' } = await made(test, triggerFor('hmac'));
    const sample = (n: number, with_ = secret) => signed(with_, `{"n":${n}}`, test.clock.now());
    for (let n = 0; n < 10; n += 1) {
      await expect(send(test, id, sample(n, 'wrong'))).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await send(test, id, sample(1));
    await send(test, id, sample(2));

    await expect(send(test, id, sample(3))).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 3 });
    test.clock.advance(3_000);
    expect(await send(test, id, sample(3))).toMatchObject({ outcome: 'started' });
  });

  it('waits while the trigger is paused, for its sender to come again', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('hmac'));
    await test.host.triggers.pause(alice, id);

    await expect(send(test, id, signed(secret, '{}', test.clock.now()))).rejects.toMatchObject({
      code: 'service_unavailable',
      details: { cause: 'trigger_paused' },
    });

    expect(await test.host.triggers.resume(alice, id)).toMatchObject({
      state: 'active',
      changes: [{ reason: 'operator-resumed' }, { from: 'active', to: 'paused', reason: 'operator-paused' }],
    });
    expect(await send(test, id, signed(secret, '{}', test.clock.now()))).toMatchObject({
      outcome: 'started',
    });
  });

  it('that cannot be served yet is tried again, and then a dead letter (D-12)', async () => {
    const test = await open();
    const retryPolicy = { maxAttempts: 2, backoff: 'none' } as const;
    const { id, secret = '' } = await made(test, triggerFor('hmac', { retryPolicy }));
    // The workflow is gone; nothing that a client can do takes one away, so its trigger is pointed elsewhere.
    const place = { tenant: alice.tenant, collection: 'trigger', scope: '', id };
    const stored = await test.store.readDocument(place);
    const moved = JSON.stringify({ ...(JSON.parse(stored?.body ?? '{}') as object), workflowId: 'nowhere' });
    await test.store.commit([{ kind: 'document', batchId: 'A'.repeat(22), ...place, body: moved, at: 0 }]);

    expect(await send(test, id, signed(secret, '{}', test.clock.now()))).toEqual({ outcome: 'retrying' });
    test.clock.advance(1_500);

    const letter = await until(async () => {
      const { rows } = await test.host.deadLetters.list(alice, `trigger:${id}`, { limit: 5 });
      return rows[0];
    });
    expect(letter).toMatchObject({ reason: 'not_found', attempts: 2 });
  });
});

describe('a trigger', () => {
  it('shows a secret that this host made once, and keeps it sealed', async () => {
    const test = await open();
    const { id, secret } = await made(test, triggerFor('github'));

    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const view = await test.host.triggers.get(alice, id);
    expect(view?.secretFingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(JSON.stringify(view)).not.toContain(secret);
    const stored = await test.store.readDocument({
      tenant: alice.tenant,
      collection: 'trigger',
      scope: '',
      id,
    });
    expect(stored?.body).not.toContain(secret);
  });

  it('takes a secret of the tenant by its id', async () => {
    const test = await open();
    await test.host.secrets.set(alice, { id: 'hook', value: GITHUB_ISSUE.secret, scope: 'tenant' });
    const { id } = await made(test, triggerFor('github', { secretId: 'hook' }));

    expect(await send(test, id, GITHUB_ISSUE)).toMatchObject({ outcome: 'started' });
    await test.host.secrets.remove(alice, 'hook', 'tenant');
    await expect(send(test, id, { ...GITHUB_ISSUE })).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('tells what a delivery would start, without starting it', async () => {
    const test = await open();
    const { id } = await made(test, triggerFor('hmac', { inputMapping: { title: 'body.a.b' } }));

    expect(await test.host.triggers.test(alice, id, { body: { a: { b: 'c' } }, headers: {} })).toEqual({
      title: 'c',
    });
    await expect(test.host.triggers.test(alice, id, { body: {}, headers: {} })).rejects.toMatchObject({
      details: { field: 'body' },
    });
  });

  it.each([
    ['a mapping that is no expression', { inputMapping: { title: 'body.' } }, 'inputMapping.title'],
    [
      'a mapping of something that is not there',
      { inputMapping: { title: 'payload.x' } },
      'inputMapping.title',
    ],
    ['a short secret', { secret: 'short' }, 'secret'],
    ['two secrets', { secret: 'long enough', secretId: 'hook' }, 'secretId'],
    ['an unknown workflow', { workflowId: 'nowhere' }, 'workflowId'],
    ['a scheme whose sender makes the secret, and none', { scheme: 'stripe' }, 'secret'],
  ] as [string, Partial<NewTrigger>, string][])(
    'is refused with %s, by the field',
    async (_what, more, field) => {
      const test = await open();

      await expect(test.host.triggers.create(alice, triggerFor('hmac', more))).rejects.toMatchObject({
        details: { field },
      });

      expect((await test.host.triggers.list(alice, { limit: 5 })).rows).toEqual([]);
    },
  );

  it('of another tenant is not there', async () => {
    const test = await open();
    const { id } = await made(test, triggerFor('hmac'));

    expect(await test.host.triggers.get(stranger, id)).toBeUndefined();
    expect(await test.host.triggers.pause(stranger, id)).toBeUndefined();
    expect(await test.host.triggers.remove(stranger, id)).toBe(false);
    expect((await test.host.triggers.list(stranger, { limit: 5 })).rows).toEqual([]);
  });

  it('is gone when it is removed', async () => {
    const test = await open();
    const { id, secret = '' } = await made(test, triggerFor('hmac'));

    expect(await test.host.triggers.remove(alice, id)).toBe(true);

    await expect(send(test, id, signed(secret, '{}', test.clock.now()))).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    expect(await test.host.triggers.remove(alice, id)).toBe(false);
  });

  it('that a workflow declares is there with the version that declares it', async () => {
    const test = await open();
    await test.host.secrets.set(alice, { id: 'hook', value: GITHUB_ISSUE.secret, scope: 'tenant' });
    const config = { scheme: 'github', secretId: 'hook', inputMapping: { title: 'body.issue.title' } };
    const workflow = definition({ ...TRIAGE, triggers: [{ id: 'issues', type: 'webhook', config }] });
    const register = (version: string, content: object) =>
      test.host.workflows.register(
        alice,
        { ...content, id: 'triage', version },
        { strict: true, dev: false },
      );
    await register('1', workflow);
    const { rows } = await test.host.triggers.list(alice, { limit: 5 });
    const id = rows[0]?.id ?? '';

    expect(await send(test, id, GITHUB_ISSUE)).toMatchObject({ outcome: 'started' });
    await expect(test.host.triggers.remove(alice, id)).rejects.toMatchObject({ code: 'conflict' });
    await register('2', definition(TRIAGE));

    expect(await test.host.triggers.get(alice, id)).toBeUndefined();
  });
});

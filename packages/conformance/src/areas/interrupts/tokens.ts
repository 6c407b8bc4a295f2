import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf } from '../events/log.ts';
import { linkOf, stillWaits, tokenOf, TOO_LATE, type WaitingRun, waitingRun } from './waiting.ts';

const EXTERNAL = 'conformance-interrupt-external-event';
const WAITING = 'waiting-external';
/** What the fixture declares. */
const CORRELATION = { orderId: 'fixture-order-1', status: 'completed' };
const REFUSED = [400, 401, 403, 404, 410];
const SHOWN_MEMBERS = [
  'kind',
  'key',
  'data',
  'resumeSchema',
  'timeoutMs',
  'requestedAt',
  'expiresAt',
  'resolved',
];
/** 128 bits in base64url. */
const RANDOM_CHARACTERS = 22;
const ONE_SECOND = 1_000;

interface LinkedRun extends WaitingRun {
  readonly link: string;
}

async function linkedRun(context: CheckContext): Promise<LinkedRun> {
  const run = await waitingRun(context, EXTERNAL, WAITING);
  const link = linkOf(run.snapshot) ?? '';
  context.expect.that(
    link !== '',
    'the snapshot has interrupt.interruptToken or interrupt.callbackUrl while the run waits',
    Object.keys(run.snapshot),
  );
  return { ...run, link };
}

function send({ host }: CheckContext, link: string, resumeValue: unknown) {
  return host.request('POST', link, { key: null, body: { resumeValue } });
}

export const INTERRUPTS_TOKEN_CHECKS: readonly Check[] = [
  {
    id: 'interrupts/external-event',
    title: 'a run waits for an external event, and takes the one that correlates',
    proves: ['INT-30', 'INT-31', 'INT-32', 'INT-33'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { runs, expect, unique } = context;
      const { runId, link } = await linkedRun(context);

      const other = await send(context, link, { ...CORRELATION, orderId: unique('other') });
      expect.envelope(other, { status: [422, 400] });
      await stillWaits(context, runId, WAITING, 'an event of something else');

      expect.status(await send(context, link, { ...CORRELATION, more: { than: 'declared' } }), 200, 202, 204);
      const ended = await runs.ended(runId);
      expect.equal(ended['status'], 'completed', 'a run whose event has come completes');
    },
  },
  {
    id: 'interrupts/external-event-twice',
    title: 'an external event that is sent twice resolves once',
    proves: ['INT-34'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, link } = await linkedRun(context);

      const answers = await Promise.all([send(context, link, CORRELATION), send(context, link, CORRELATION)]);

      const allowed = [200, 202, 204, ...TOO_LATE];
      for (const answer of answers) expect.status(answer, ...allowed);
      await runs.ended(runId);
      const resolved = ofType(await runs.events(runId), 'interrupt.resolved');
      expect.equal(resolved.length, 1, 'the log has exactly one interrupt.resolved');
    },
  },
  {
    id: 'interrupts/token-shows',
    title: 'a token shows its interrupt and nothing more',
    proves: ['INT-35'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId, link } = await linkedRun(context);

      const answer = await host.request('GET', link, { key: null });

      expect.status(answer, 200);
      const shown = expect.object(answer.json, 'a token is answered with an object');
      expect.equal(shown['kind'], 'external-event', 'a token shows the kind of its interrupt');
      expect.string(shown['key'], 'a token shows the key of its interrupt');
      expect.object(shown['data'], 'a token shows the data of its interrupt');
      const more = Object.keys(shown).filter((name) => !SHOWN_MEMBERS.includes(name));
      expect.equal(more, [], 'a token shows nothing but its interrupt');
      await stillWaits(context, runId, WAITING, 'a look at its interrupt');
      await runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/token-after-resolution',
    title: 'a token is worth nothing after its interrupt is resolved',
    proves: ['INT-36'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { host, expect } = context;
      const { link } = await linkedRun(context);
      expect.status(await send(context, link, CORRELATION), 200, 202, 204);

      const answers = [
        await host.request('GET', link, { key: null }),
        await send(context, link, CORRELATION),
      ];

      for (const answer of answers) {
        const envelope = expect.envelope(answer, { status: [409, 404, 410] });
        if (answer.status === 409)
          expect.equal(
            envelope['error'],
            'interrupt_already_resolved',
            'the code of a used token is interrupt_already_resolved',
          );
      }
    },
  },
  {
    id: 'interrupts/token-after-cancel',
    title: 'a token is worth nothing after its run is cancelled',
    proves: ['INT-37'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId, link } = await linkedRun(context);

      await runs.cancel(runId);

      await runs.reaches(runId, 'cancelled');
      expect.envelope(await host.request('GET', link, { key: null }), { status: TOO_LATE });
      expect.envelope(await send(context, link, CORRELATION), { status: TOO_LATE });
    },
  },
  {
    id: 'interrupts/forged-token',
    title: 'tokens that are altered or made up are refused',
    proves: ['INT-38'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { host, runs, expect } = context;
      const { runId, link } = await linkedRun(context);
      const other = await linkedRun(context);

      for (const token of forgeriesOf(tokenOf(link), tokenOf(other.link))) {
        const path = `/v1/interrupts/${encodeURIComponent(token)}`;
        expect.envelope(await host.request('GET', path, { key: null }), { status: REFUSED });
        expect.envelope(await send(context, path, CORRELATION), { status: REFUSED });
      }

      await stillWaits(context, runId, WAITING, 'answers with forged tokens');
      await runs.cancel(runId);
      await runs.cancel(other.runId);
    },
  },
  {
    id: 'interrupts/token-before-body',
    title: 'a client without a valid token learns nothing about the body',
    proves: ['INT-46'],
    async run({ host, expect, unique }) {
      const path = `/v1/interrupts/${unique()}`;

      const answer = await host.request('POST', path, { key: null, rawBody: '{ this is no JSON' });

      expect.envelope(answer, { status: [401, 403, 404, 410] });
    },
  },
  {
    id: 'interrupts/token-expiry',
    title: 'a token expires, and not after its interrupt does',
    proves: ['INT-39'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, link } = await linkedRun(context);
      const [requested = {}] = ofType(await runs.events(runId), 'interrupt.requested');
      const token = tokenOf(link);
      const claims = claimsOf(token);

      if (claims === undefined) {
        expect.that(
          token.length >= RANDOM_CHARACTERS,
          'a token that is not signed has at least 128 bits',
          `${token.length} characters`,
        );
      } else {
        expect.equal(claims['runId'], runId, 'a token names its run');
        for (const name of ['nodeId', 'interruptId'])
          expect.string(claims[name], `a token names its ${name}`);
        expect.that(
          ['resolve', 'inspect'].includes(String(claims['intent'])),
          'the intent of a token is resolve or inspect',
          claims['intent'],
        );
        expectExpiry(context, claims['expiresAt'], requested);
      }
      await runs.cancel(runId);
    },
  },
  {
    id: 'interrupts/token-not-in-log',
    title: 'no token stands in the event log',
    proves: ['INT-40'],
    needs: { fixtures: [EXTERNAL] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, link } = await linkedRun(context);
      await send(context, link, CORRELATION);
      await runs.ended(runId);

      const log = JSON.stringify(await runs.events(runId));

      expect.absent(log, tokenOf(link), 'the event log does not have the token of the interrupt');
    },
  },
];

/** A signed token: two parts, the first of which is an object. Others are random texts, of which nothing can be read. */
function claimsOf(token: string): JsonObject | undefined {
  const [head = '', mac] = token.split('.');
  if (mac === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as Json;
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** The first characters are changed, not the last: the last one of a base64 text has bits that mean nothing. */
function forgeriesOf(token: string, other: string): string[] {
  const [head = '', mac = ''] = token.split('.');
  const made = ['x', `${altered(head)}${mac === '' ? '' : `.${mac}`}`];
  if (mac === '') return made;
  const [, otherMac = ''] = other.split('.');
  return [...made, head, `${head}.`, `${head}.${altered(mac)}`, `${head}.${otherMac}`];
}

function altered(text: string): string {
  return `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
}

function expectExpiry({ expect }: CheckContext, expiresAt: Json | undefined, requested: JsonObject): void {
  const expires = timeOf(expiresAt);
  expect.that(Number.isFinite(expires), 'a token has expiresAt, a time', expiresAt ?? 'nothing');
  const { timeoutMs } = payloadOf(requested);
  if (typeof timeoutMs !== 'number') return;
  const deadline = Date.parse(String(requested['timestamp'])) + timeoutMs;
  expect.that(
    expires <= deadline + ONE_SECOND,
    'a token expires no later than its interrupt',
    new Date(expires).toISOString(),
    new Date(deadline).toISOString(),
  );
}

/** Milliseconds; written as a text, in seconds or in milliseconds. */
function timeOf(value: Json | undefined): number {
  if (typeof value === 'string') return Date.parse(value);
  if (typeof value !== 'number' || Math.abs(value) > 8e15) return Number.NaN;
  return value < 1e11 ? value * ONE_SECOND : value;
}

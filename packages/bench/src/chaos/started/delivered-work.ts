import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { countIn, type Receipts } from '../workload/receipts.ts';
import type { HttpClient } from '../workload/http.ts';
import type { Random } from '../random.ts';
import type { SentDelivery } from './started-history.ts';
import { DELIVERED_MAPPING, DELIVERED_WORKFLOW } from './started-workflows.ts';

/** Senders that deliver to triggers: the same delivery at once to several hosts, and again later, as senders do that got no answer. */

const TRIGGERS = '/v1/host/weft/triggers';
const ANSWER_WITHIN_MS = 6_000;
const MOST_TRIES = 200;
const TRY_EVERY_MS = 80;
const PAUSE_MS = [200, 700] as const;
const REPEATED_AT_LAST = 300;
const AT_ONCE = 8;

type Headers = Readonly<Record<string, string>>;
type Sign = (secret: string, id: string, body: string) => Headers;

const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const seconds = (): string => String(Math.floor(Date.now() / 1_000));

const SIGNED: Readonly<Record<string, Sign>> = {
  hmac(secret, id, body) {
    const at = seconds();
    const signature = `sha256=${hex(secret, `${at}.${body}`)}`;
    return { 'openwop-timestamp': at, 'openwop-signature': signature, 'openwop-delivery-id': id };
  },
  github: (secret, id, body) => ({
    'x-hub-signature-256': `sha256=${hex(secret, body)}`,
    'x-github-delivery': id,
    'x-github-event': 'issues',
  }),
  stripe(secret, _id, body) {
    const at = seconds();
    return { 'stripe-signature': `t=${at},v1=${hex(secret, `${at}.${body}`)}` };
  },
  'shared-secret': (secret, id) => ({ 'x-weft-secret': secret, 'x-delivery-id': id }),
};

interface Trigger {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
  readonly sign: Sign;
}

interface Delivery {
  readonly trigger: Trigger;
  readonly id: string;
  readonly body: string;
  readonly isUnfit: boolean;
  readonly runIds: Set<string>;
  readonly letters: Set<string>;
  sent: number;
  started: number;
  duplicates: number;
}

export interface DeliveredWork {
  readonly triggers: readonly string[];
  readonly deliveries: () => readonly SentDelivery[];
  readonly forged: readonly { readonly trigger: string; readonly status: number }[];
  /** One sender, until the signal. */
  send(name: string, random: Random, signal: AbortSignal): Promise<void>;
  /** Once more what was not answered, and some of the rest. */
  repeat(random: Random): Promise<void>;
}

export async function openDeliveredWork(
  http: HttpClient,
  url: () => string,
  receipts: Receipts,
): Promise<DeliveredWork> {
  const triggers: Trigger[] = [];
  const deliveries: Delivery[] = [];
  const forged: { trigger: string; status: number }[] = [];
  for (const [scheme, sign] of Object.entries(SIGNED)) triggers.push(await create(http, scheme, sign));

  /** Undefined: no answer, or one that says to come back. */
  async function post({ path }: Trigger, body: string, headers: Headers): Promise<Posted | undefined> {
    try {
      const response = await fetch(`${url()}${path}`, {
        ...{ method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } },
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      const { status } = response;
      if (status !== 503 && status !== 429) return { status, text };
      countIn(receipts.repeats, `delivery ${status}`);
    } catch {
      countIn(receipts.repeats, 'delivery without an answer');
    }
    return undefined;
  }

  async function deliver(delivery: Delivery): Promise<boolean> {
    const { trigger, id, body } = delivery;
    delivery.sent += 1;
    const posted = await post(trigger, body, trigger.sign(trigger.secret, id, body));
    if (posted === undefined) return false;
    note(delivery, posted, receipts);
    return true;
  }

  async function untilAnswered(delivery: Delivery): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (await deliver(delivery)) return;
      await pause(TRY_EVERY_MS);
    }
  }

  async function forge(trigger: Trigger, id: string): Promise<void> {
    const body = JSON.stringify({ id, tag: `forged-${id}` });
    const posted = await post(trigger, body, trigger.sign('not the secret', id, body));
    if (posted !== undefined) forged.push({ trigger: trigger.id, status: posted.status });
  }

  return {
    triggers: triggers.map(({ id }) => id),
    forged,
    deliveries: () => deliveries.map(sentOf),
    async send(name, random, signal) {
      for (let count = 0; !signal.aborted; count += 1) {
        const trigger = random.pick(triggers);
        const [isUnfit, isForged, again] = [random.chance(0.1), random.chance(0.2), random.chance(0.4)];
        const [copies, waitMs] = [random.int(1, 4), random.int(...PAUSE_MS)];
        const id = `${name}-${count}`;
        const delivery = newDelivery(trigger, id, isUnfit);
        deliveries.push(delivery);
        const answers = await Promise.all(Array.from({ length: copies }, () => deliver(delivery)));
        if (!answers.includes(true)) await untilAnswered(delivery);
        if (again) await deliver(random.pick(deliveries));
        if (isForged) await forge(trigger, id);
        await pause(waitMs);
      }
    },
    async repeat(random) {
      const unanswered = deliveries.filter(({ started, duplicates }) => started + duplicates === 0);
      const waiting = [...unanswered, ...random.shuffle(deliveries).slice(0, REPEATED_AT_LAST)];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await untilAnswered(next);
        }),
      );
    },
  };
}

interface Posted {
  readonly status: number;
  readonly text: string;
}

function note(delivery: Delivery, { status, text }: Posted, receipts: Receipts): void {
  if (status !== 200 && status !== 202) {
    receipts.unexpectedResponses.push({ request: `delivery ${delivery.id}`, status, body: text });
    return;
  }
  const { runId, deadLetterId } = JSON.parse(text) as { runId?: string; deadLetterId?: string };
  if (runId !== undefined) delivery.runIds.add(runId);
  if (deadLetterId !== undefined) delivery.letters.add(deadLetterId);
  if (status === 202) delivery.started += 1;
  else delivery.duplicates += 1;
}

function newDelivery(trigger: Trigger, id: string, isUnfit: boolean): Delivery {
  const body = JSON.stringify(isUnfit ? { id } : { id, tag: `delivery-${id}` });
  const counts = { sent: 0, started: 0, duplicates: 0 };
  return { trigger, id, body, isUnfit, runIds: new Set(), letters: new Set(), ...counts };
}

function sentOf({ trigger, id, isUnfit, runIds, letters, ...counts }: Delivery): SentDelivery {
  const { sent, started, duplicates } = counts;
  return {
    ...{ trigger: trigger.id, id, isUnfit, sent, started, duplicates },
    ...{ runIds: [...runIds], letters: [...letters] },
  };
}

async function create(http: HttpClient, scheme: string, sign: Sign): Promise<Trigger> {
  const secret = randomBytes(24).toString('hex');
  const body: JsonObject = {
    ...{ scheme, secret, workflowId: DELIVERED_WORKFLOW },
    inputMapping: DELIVERED_MAPPING,
  };
  const answer = await http.askUntilAnswered('POST', TRIGGERS, { body, key: `trigger-${scheme}` });
  if (answer?.status !== 201) throw new Error(`trigger ${scheme} was answered ${answer?.text}`);
  const { id, ingestUrl } = answer.json;
  return { id: String(id), path: new URL(String(ingestUrl)).pathname, secret, sign };
}

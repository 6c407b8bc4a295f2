import { createHmac } from 'node:crypto';
import { HOSTILE_EXPRESSIONS } from '@weft/engine/hostile-texts';
import type { Json, JsonObject } from '@weft/protocol';
import type { Answer, Attacker } from './attacker.ts';
import type { HostileCase } from './corpus.ts';
import { workflow } from './definitions.ts';

/** What a tenant can do with triggers and schedules of its own, and strangers with an address that they have found. */

const TRIGGERS = '/v1/host/weft/triggers';
const SCHEDULES = '/v1/host/weft/schedules';
const FLOOD = 600;
const TOGETHER = 100;
const MANY_SCHEDULES = 60;
const SECRET = 'the-secret-of-the-attacker';
const LARGE = 'x'.repeat(200_000);
const DAY_MS = 24 * 60 * 60 * 1_000;

const NOOP = workflow([{ id: 'n', typeId: 'core.noop' }]);

async function ingestUrl(attacker: Attacker, inputMapping: JsonObject = {}): Promise<string> {
  const workflowId = await attacker.registers(NOOP);
  const body: JsonObject = { workflowId, scheme: 'hmac', secret: SECRET, inputMapping };
  const { status, json } = await attacker.ask('POST', TRIGGERS, body);
  if (status !== 201) throw new Error(`the trigger was answered ${status}: ${JSON.stringify(json)}`);
  return `http://127.0.0.1:${attacker.port}${new URL(String(json['ingestUrl'])).pathname}`;
}

async function deliver(url: string, secret: string, content: Json): Promise<Answer> {
  const body = JSON.stringify(content);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'openwop-timestamp': timestamp,
    'openwop-signature': `sha256=${signature}`,
  };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

async function inGroups(count: number, send: (at: number) => Promise<Answer>): Promise<string> {
  const counts = new Map<number, number>();
  for (let from = 0; from < count; from += TOGETHER) {
    const size = Math.min(TOGETHER, count - from);
    const answers = await Promise.all(Array.from({ length: size }, (_, at) => send(from + at)));
    for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].map(([status, times]) => `${times}×${status}`).join(' ');
}

const floods: HostileCase[] = [
  {
    kind: 'trigger',
    name: 'a flood of signed deliveries',
    async attack(attacker) {
      const url = await ingestUrl(attacker);
      return await inGroups(FLOOD, (at) => deliver(url, SECRET, { at }));
    },
  },
  {
    kind: 'trigger',
    name: 'a flood of large forged deliveries',
    async attack(attacker) {
      const url = await ingestUrl(attacker);
      return await inGroups(FLOOD, (at) => deliver(url, 'not it', { at, LARGE }));
    },
  },
  {
    kind: 'trigger',
    name: 'a flood of deliveries to addresses that are none',
    attack: (attacker) =>
      inGroups(FLOOD, (at) =>
        deliver(`http://127.0.0.1:${attacker.port}/v1/host/weft/ingest/tr_${at}`, SECRET, { at }),
      ),
  },
  {
    kind: 'trigger',
    name: 'a flood of deliveries that become dead letters',
    async attack(attacker) {
      const url = await ingestUrl(attacker, { missing: 'body.missing' });
      return await inGroups(FLOOD, (at) => deliver(url, SECRET, { at }));
    },
  },
];

/** Mappings of the texts whose work is counted by tests, each over a body of their inputs. */
const mappings: HostileCase[] = [
  {
    kind: 'trigger',
    name: 'mappings that cost as much as they can',
    async attack(attacker) {
      const counts = new Map<string, number>();
      for (const { expression, inputs } of HOSTILE_EXPRESSIONS) {
        const mapping = { it: expression.replaceAll('inputs.', 'body.') };
        const outcome = await ingestUrl(attacker, mapping)
          .then((url) => deliver(url, SECRET, inputs?.() ?? {}))
          .then(({ status, json }) => `${status} ${String(json['reason'] ?? '')}`.trim())
          .catch(() => 'refused when it was made');
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
      return [...counts].map(([outcome, times]) => `${times}×${outcome}`).join(', ');
    },
  },
];

const schedules: HostileCase[] = [
  {
    kind: 'trigger',
    name: 'schedules that are all due each second, and a year of the past',
    async attack(attacker) {
      const workflowId = await attacker.registers(NOOP);
      const names = Array.from({ length: MANY_SCHEDULES }, (_, at) => `${workflowId}-${at}`.toLowerCase());
      const start = new Date(Date.now() - 365 * DAY_MS).toISOString();
      const made = await inGroups(names.length, (at) =>
        attacker.ask('POST', SCHEDULES, {
          ...{ name: names[at] ?? '', workflowId, everyMs: 1_000, overlap: 'allow', start },
          catchUpMs: 30 * DAY_MS,
        }),
      );
      const range = { from: start, to: new Date(Date.now() - DAY_MS).toISOString() };
      const filled = await attacker.ask('POST', `${SCHEDULES}/${names[0]}:backfill`, range);
      const removed = await inGroups(names.length, (at) =>
        attacker.ask('DELETE', `${SCHEDULES}/${names[at]}`),
      );
      return `made ${made}; backfill ${filled.status}; removed ${removed}`;
    },
  },
];

export const TRIGGER_CASES: readonly HostileCase[] = [...floods, ...mappings, ...schedules];

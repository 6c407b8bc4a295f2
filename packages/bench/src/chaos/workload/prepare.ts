import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { WATCHED_TAG } from './client.ts';
import { type Cluster, WEBHOOK_REFRESH_MS } from '../faults/cluster.ts';
import { type HttpClient, httpClient } from './http.ts';
import type { Receipts } from './receipts.ts';
import { ENDS_PATH, FLAKY_PATH, type Receiver, WATCHED_PATH } from './webhook-receiver.ts';
import { type ChaosWorkflows, SECRET_ID, TASK_TYPE } from './workflows.ts';

/** Everything that has to be there before the first run: workflows, a secret, webhooks, and a key for another tenant. */
export interface Prepared {
  readonly secret: string;
  readonly callbackSecret: string;
  /** Key of a tenant that only gets bundles. */
  readonly guestKey: string;
  /** Key of the hostile tenant. */
  readonly hostileKey: string;
  readonly receiverUrl: string;
}

interface Preparing {
  readonly cluster: Cluster;
  readonly workflows: ChaosWorkflows;
  readonly receipts: Receipts;
  readonly receiver: Receiver;
}

const MOST_LOOKS = 600;
const LOOK_EVERY_MS = 100;
const ENDS = ['run.completed', 'run.failed', 'run.cancelled'];
const HOSTILE_SCOPES = [
  ...['runs:create', 'runs:read', 'runs:cancel', 'workflows:write', 'manifest:read', 'approvals:respond'],
];
const GUEST_SCOPES = ['runs:create', 'runs:read', 'artifacts:read'];

export async function prepare({ cluster, workflows, receipts, receiver }: Preparing): Promise<Prepared> {
  const http = httpClient(() => `http://127.0.0.1:${cluster.port(0)}`, cluster.apiKey, receipts);
  const receiverUrl = `http://127.0.0.1:${receiver.port}`;
  await untilKnown(http, TASK_TYPE);
  for (const definition of workflows.definitions) await demand(http, '/v1/host/weft/workflows', definition);
  const secret = `worth-keeping-${randomBytes(16).toString('hex')}`;
  await demand(http, '/v1/host/weft/secrets', { id: SECRET_ID, value: secret });
  const wanted = [
    { path: ENDS_PATH, events: ENDS, tags: [] },
    { path: FLAKY_PATH, events: ENDS, tags: [] },
    { path: WATCHED_PATH, events: ['*'], tags: [WATCHED_TAG] },
  ];
  for (const { path, events, tags } of wanted) {
    const made = await demand(http, '/v1/webhooks', { url: `${receiverUrl}${path}`, events, tags });
    receipts.webhooks.push({
      ...{ webhookId: String(made['webhookId']), secret: String(made['secret']), events, tags },
    });
  }
  const key = { tenant: 'guest', principal: 'guest', kind: 'service', scopes: GUEST_SCOPES };
  const { key: guestKey } = await demand(http, '/v1/host/weft/keys', key);
  const hostileTenant = { tenant: 'hostile', principal: 'hostile', kind: 'service', scopes: HOSTILE_SCOPES };
  const { key: hostileKey } = await demand(http, '/v1/host/weft/keys', hostileTenant);
  const callback = await http.askUntilAnswered('GET', '/v1/host/weft/callback-secret');
  // Every process knows of them before the first event.
  await pause(2 * WEBHOOK_REFRESH_MS);
  return {
    secret,
    callbackSecret: String(callback?.json['secret']),
    guestKey: String(guestKey),
    hostileKey: String(hostileKey),
    receiverUrl,
  };
}

/** A definition may name a type once a worker has served it. */
async function untilKnown(http: HttpClient, typeId: string): Promise<void> {
  for (let tries = 0; tries < MOST_LOOKS; tries += 1) {
    const answer = await http.askUntilAnswered('GET', `/v1/host/weft/node-types?typeId=${typeId}`);
    if (((answer?.json['types'] ?? []) as unknown[]).length > 0) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`no worker serves ${typeId}`);
}

export async function demand(http: HttpClient, path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await http.askUntilAnswered('POST', path, { body });
  if (answer === undefined || answer.status >= 300)
    throw new Error(`POST ${path} was answered ${answer?.text}: ${JSON.stringify(body).slice(0, 200)}`);
  return answer.json;
}

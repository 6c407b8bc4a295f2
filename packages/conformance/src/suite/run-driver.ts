import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { CheckContext } from './check.ts';
import type { Expectations } from './expectations.ts';
import type { Answer, HostClient, RequestOptions } from './host-client.ts';

export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'];
/** More pages than any run of the suite has events. */
const MAX_PAGES = 100;

/** The calls that nearly every check makes, each with its expectations. */
export interface RunDriver {
  /** `POST /v1/runs`, whatever the answer. */
  tryCreate(workflowId: string, rest?: object, options?: RequestOptions): Promise<Answer>;
  /** Creates a run and returns its id; the answer must be 201. */
  create(workflowId: string, rest?: object, options?: RequestOptions): Promise<string>;
  /** Creates a run and waits until it has ended; returns its id. */
  endedRun(workflowId: string, rest?: object, options?: RequestOptions): Promise<string>;
  snapshot(runId: string): Promise<JsonObject>;
  /** Waits until the run's status is one of these. */
  reaches(runId: string, ...statuses: string[]): Promise<JsonObject>;
  ended(runId: string): Promise<JsonObject>;
  /** Every event so far, in the order of the answers of `/events/poll`. */
  events(runId: string): Promise<JsonObject[]>;
  /** The log of a run that may still be running, in one poll that does not wait for more. */
  eventsSoFar(runId: string): Promise<JsonObject[]>;
  resolve(runId: string, nodeId: string, resumeValue: unknown, options?: RequestOptions): Promise<Answer>;
  cancel(runId: string, body?: object): Promise<Answer>;
  fork(runId: string, body: object): Promise<Answer>;
}

export function createRunDriver(
  host: HostClient,
  expect: Expectations,
  eventually: CheckContext['eventually'],
): RunDriver {
  async function poll(runId: string, cursor = '') {
    const answer = await host.request('GET', `/v1/runs/${runId}/events/poll?${cursor}timeout=1`);
    expect.status(answer, 200);
    const body = expect.object(answer.json, 'a poll is answered with an object');
    const events = expect
      .array(body['events'], 'a poll answers with the list events')
      .map((event) => expect.object(event, 'an event is an object'));
    return { body, events };
  }

  const runs: RunDriver = {
    tryCreate: (workflowId, rest = {}, options = {}) =>
      host.request('POST', '/v1/runs', { ...options, body: { workflowId, ...rest } }),
    async create(workflowId, rest, options) {
      const answer = await runs.tryCreate(workflowId, rest, options);
      expect.status(answer, 201);
      const created = expect.object(answer.json, 'a created run is answered with an object');
      return expect.string(created['runId'], 'a created run has a runId');
    },
    async endedRun(workflowId, rest, options) {
      const runId = await runs.create(workflowId, rest, options);
      await runs.ended(runId);
      return runId;
    },
    async snapshot(runId) {
      const answer = await host.request('GET', `/v1/runs/${runId}`);
      expect.status(answer, 200);
      return expect.object(answer.json, 'a run is answered with an object');
    },
    reaches: (runId, ...statuses) =>
      eventually(`the run becomes ${statuses.join(' or ')}`, async () => {
        const answer = await host.request('GET', `/v1/runs/${runId}`);
        // A run may not be readable at once after it was created.
        if (answer.status === 404) return undefined;
        const snapshot = isJsonObject(answer.json) ? answer.json : {};
        const status = String(snapshot['status']);
        if (statuses.includes(status)) return snapshot;
        expect.that(
          !TERMINAL_STATUSES.includes(status),
          `the run becomes ${statuses.join(' or ')}`,
          answer.json,
        );
        return undefined;
      }),
    ended: (runId) => runs.reaches(runId, ...TERMINAL_STATUSES),
    async events(runId) {
      const all: JsonObject[] = [];
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const after = all.at(-1)?.['sequence'];
        const cursor = after === undefined ? '' : `lastSequence=${String(after)}&`;
        const { body, events } = await poll(runId, cursor);
        all.push(...events);
        if (events.length === 0 || body['isComplete'] === true || body['isTerminal'] === true) return all;
      }
      return all;
    },
    eventsSoFar: async (runId) => (await poll(runId)).events,
    resolve: (runId, nodeId, resumeValue, options = {}) =>
      host.request('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { ...options, body: { resumeValue } }),
    cancel: (runId, body = {}) => host.request('POST', `/v1/runs/${runId}/cancel`, { body }),
    fork: (runId, body) => host.request('POST', `/v1/runs/${runId}:fork`, { body }),
  };
  return runs;
}

import type { CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';

/** What a repeated request looks like from outside. */
const REPLAY_HEADER = 'openwop-Idempotent-Replay';

export function keyHeader(key: string): Record<string, string> {
  return { 'idempotency-key': key };
}

export function createWithKey({ runs }: CheckContext, key: string, inputs: object): Promise<Answer> {
  return runs.tryCreate('conformance-idempotent', { inputs }, { headers: keyHeader(key) });
}

export function isMarked(answer: Answer): boolean {
  return answer.headers.get(REPLAY_HEADER)?.toLowerCase() === 'true';
}

/** What these functions need of a check. */
type Expecting = Pick<CheckContext, 'expect'>;

export function runIdOf({ expect }: Expecting, answer: Answer): string {
  const body = expect.object(answer.json, 'a created run is answered with an object');
  return expect.string(body['runId'], 'a created run has a runId');
}

/** The first answer to a key: the request was carried out. */
export function expectFirst({ expect }: Expecting, answer: Answer): void {
  expect.status(answer, 201);
  expect.that(!isMarked(answer), 'the first answer to a key is not marked as a repeated one', REPLAY_HEADER);
}

/** The answer to a repeated creation: the run of the first one, marked. */
export function expectReplay(context: Expecting, first: Answer, second: Answer): void {
  const { expect } = context;
  expect.status(second, 200, 201);
  expect.equal(
    runIdOf(context, second),
    runIdOf(context, first),
    'a repeated request has the runId of the first',
  );
  expectMarked(context, second);
}

export function expectMarked({ expect }: Expecting, answer: Answer): void {
  expect.that(
    isMarked(answer),
    `a repeated answer carries ${REPLAY_HEADER}: true`,
    answer.headers.get(REPLAY_HEADER) ?? 'nothing',
    'true',
  );
}

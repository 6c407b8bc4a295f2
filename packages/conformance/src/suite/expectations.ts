import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Answer } from './host-client.ts';
import { isText } from './json-shapes.ts';
import type { ShownRequest, Trace } from './trace.ts';

/** An expectation that does not hold: the host is wrong. The message says what is, and which request showed it. */
export class ExpectationFailed extends Error {
  readonly claim: string;
  constructor(
    claim: string,
    expected: string | undefined,
    actual: string | undefined,
    request?: ShownRequest,
  ) {
    const where = request === undefined ? '' : ` (${request.method} ${request.path})`;
    const wanted = expected === undefined ? '' : ` Expected: ${expected}.`;
    const found = actual === undefined ? '' : ` Found: ${actual}.`;
    super(`${claim}${where}.${wanted}${found}`);
    this.name = 'ExpectationFailed';
    this.claim = claim;
  }
}

export interface EnvelopeExpectation {
  readonly status: number | readonly number[];
  readonly code?: string | readonly string[];
}

/** Claims are written as they should be: "the answer lists every event once". */
export interface Expectations {
  /** The general form: `claim` is shown whether it holds or not. */
  that(holds: boolean, claim: string, actual?: unknown, expected?: unknown): void;
  /** Equal as JSON values, whatever the order of members. */
  equal(actual: unknown, expected: unknown, claim: string): void;
  status(answer: Pick<Answer, 'status' | 'request'> & { text?: string }, ...allowed: number[]): void;
  /** The three-member error envelope, with its status and, when given, its code. Returns it. */
  envelope(answer: Answer, expected: EnvelopeExpectation): JsonObject;
  header(answer: Pick<Answer, 'headers' | 'request'>, name: string): string;
  object(value: Json | undefined, claim: string): JsonObject;
  array(value: Json | undefined, claim: string): Json[];
  string(value: Json | undefined, claim: string): string;
  integer(value: Json | undefined, claim: string): number;
  /** For secrets: the needle is never shown. */
  absent(text: string, needle: string, claim: string): void;
}

const ENVELOPE_MEMBERS = new Set(['error', 'message', 'details']);

export function createExpectations(trace: Trace): Expectations {
  function check(
    holds: boolean,
    claim: string,
    found: { actual?: unknown; expected?: unknown; request?: ShownRequest } = {},
  ): asserts holds {
    const expected = found.expected === undefined ? undefined : trace.shown(found.expected);
    const actual = found.actual === undefined ? undefined : trace.shown(found.actual);
    trace.add({
      kind: 'expectation',
      claim,
      holds,
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
    });
    if (!holds) throw new ExpectationFailed(claim, expected, actual, found.request);
  }

  const expect: Expectations = {
    that(holds, claim, actual, expected) {
      check(holds, claim, { actual, expected });
    },
    equal(actual, expected, claim) {
      check(canonical(actual) === canonical(expected), claim, { actual, expected });
    },
    status({ status, request, text }, ...allowed) {
      const actual = allowed.includes(status) || text === undefined ? status : `${status} ${text}`;
      const expected = allowed.join(' or ');
      check(allowed.includes(status), `the answer has status ${expected}`, { actual, expected, request });
    },
    envelope(answer, { status, code }) {
      const statuses = typeof status === 'number' ? [status] : status;
      expect.status(answer, ...statuses);
      const { json, request } = answer;
      check(isJsonObject(json), 'an error is answered with a JSON object', { actual: answer.text, request });
      const extra = Object.keys(json).filter((name) => !ENVELOPE_MEMBERS.has(name));
      check(extra.length === 0, 'an error has no members but error, message and details', {
        actual: extra,
        request,
      });
      for (const name of ['error', 'message'])
        check(isText(json[name]), `an error's ${name} is a text that is not empty`, {
          actual: json[name] ?? 'nothing',
          request,
        });
      const { details } = json;
      check(details === undefined || isJsonObject(details), "an error's details are an object when present", {
        actual: details,
        request,
      });
      const codes = typeof code === 'string' ? [code] : code;
      if (codes !== undefined)
        check(codes.includes(String(json['error'])), `the error's code is ${codes.join(' or ')}`, {
          actual: json['error'],
          expected: codes.join(' or '),
          request,
        });
      return json;
    },
    header({ headers, request }, name) {
      const value = headers.get(name);
      check(value !== null && value !== '', `the answer has the header ${name}`, {
        actual: value ?? 'nothing',
        request,
      });
      return value;
    },
    object(value, claim) {
      check(isJsonObject(value), claim, { actual: value ?? 'nothing', expected: 'an object' });
      return value;
    },
    array(value, claim) {
      check(Array.isArray(value), claim, { actual: value ?? 'nothing', expected: 'an array' });
      return value;
    },
    string(value, claim) {
      check(isText(value), claim, { actual: value ?? 'nothing', expected: 'a text that is not empty' });
      return value;
    },
    integer(value, claim) {
      check(typeof value === 'number' && Number.isInteger(value), claim, {
        actual: value ?? 'nothing',
        expected: 'an integer',
      });
      return value;
    },
    absent(text, needle, claim) {
      const at = text.indexOf(needle);
      check(at === -1, claim, at === -1 ? {} : { actual: `present at character ${at} of ${text.length}` });
    },
  };
  return expect;
}

function canonical(value: unknown): string {
  return value === undefined ? 'nothing' : canonicalJson(value as Json);
}

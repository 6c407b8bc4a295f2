import { pathParameters, type Route, ROUTES } from '@weft/protocol';
import { sampleWith, type TextField, textFields } from '@weft/protocol/schema-samples';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, openHarness } from '../testing/harness.ts';

/** One of each kind that no name may hold. A half of a surrogate pair cannot be sent: it is refused with the whole body. */
const REFUSED = ['d\u0000x', '\u001b[2J', '\u007f', '\u009b', 'a\u202eb', '\u2067'];

let at: Harness;
let runId: string;
beforeAll(async () => {
  at = await openHarness();
  ({ runId } = await at.start('gate'));
});
afterAll(() => at.close());

const fill = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const known: Readonly<Record<string, string>> = { runId, nodeId: 'gate' };
    return encodeURIComponent(values[name] ?? known[name] ?? 'some');
  });

/** Right in everything but the path. */
const ask = ({ method, path }: Route, values: Readonly<Record<string, string>>): Promise<Answer> => {
  const query = path.endsWith(':diff') ? `?against=${runId}` : '';
  const body = path.includes('interrupts') ? { resumeValue: {} } : {};
  return at.call(method, fill(path, values) + query, method === 'POST' ? { body } : {});
};

const withBody = ROUTES.filter((route) => route.request !== undefined);
const namesOf = ({ request }: Route): TextField[] =>
  textFields(request?.schema ?? {}).filter(({ kind }) => kind === 'name');

describe('a name that a client sends', () => {
  it.each(withBody.map((route) => [route.operationId, route] as const))(
    'is refused with its field in the body of %s',
    async (_, route) => {
      for (const field of namesOf(route)) {
        for (const text of REFUSED) {
          const body = sampleWith(route.request?.schema ?? {}, field, text);
          const answer = await at.call(route.method, fill(route.path), { body });

          const place = `${field.path} ${JSON.stringify(text)}: ${answer.text}`;
          // A request for another tenant is rejected as such before anything else, and no tenant has such a name.
          const isForeign = field.path === '/tenantId' && answer.status === 403;
          expect(answer.status, place).toBe(isForeign ? 403 : 400);
          const pointer = field.isKey ? field.path.replace(/member$/, () => text) : field.path;
          expect(
            String(answer.json['details']?.['field']).replace(/^\//, '').replaceAll('/', '.'),
            place,
          ).toBe(pointer.slice(1).replaceAll('/', '.'));
          expect(answer.json['message'], place).not.toContain(text);
        }
      }
    },
  );

  it.each(
    ROUTES.flatMap((route) =>
      pathParameters(route.path).map((name) => [`${route.method} ${route.path}`, name, route] as const),
    ),
  )('is refused in the path of %s: %s', async (_, name, route) => {
    for (const text of REFUSED) {
      const answer = await ask(route, { [name]: text });

      // Of a run that cannot be there nothing is said but that it is not there; a trigger does not even say that.
      const isSilent =
        (answer.status === 404 && name === 'runId') ||
        (answer.status === 401 && route.operationId === 'ingestDelivery');
      if (!isSilent) {
        expect([answer.status, answer.json['details']], `${text} ${answer.text}`).toEqual([
          400,
          { field: name },
        ]);
      }
      expect(answer.text).not.toContain(text);
    }
  });

  it.each(
    ROUTES.flatMap((route) =>
      (route.query ?? [])
        .filter(({ schema }) => textFields(schema).some(({ kind }) => kind === 'name'))
        .map((parameter) => [`${route.method} ${route.path}`, parameter.name, route] as const),
    ),
  )('is refused in the query of %s: %s', async (_, name, route) => {
    for (const text of REFUSED) {
      const needed = route.operationId === 'countRuns' ? '&bucket=1h&since=2026-01-01T00:00:00Z' : '';
      const url = `${fill(route.path)}?${name}=${encodeURIComponent(text)}${needed}`;
      const body = route.operationId === 'setRetention' ? { body: { keepForSeconds: null } } : {};
      const answer = await at.call(route.method, url, body);

      expect([answer.status, answer.json['details']?.['field']], answer.text).toEqual([400, name]);
      expect(answer.text).not.toContain(text);
    }
  });

  it.each(['%ff', '%ED%A0%80', '%C0%80', '%'])('is refused in a path that is not UTF-8: %s', async (text) => {
    const answer = await at.call('GET', `/v1/workflows/${text}`);

    expect([answer.status, answer.json['error']]).toEqual([400, 'validation_error']);
  });

  it.each([
    ['Idempotency-Key', 400],
    ['X-Dedup', 400],
    ['X-Force-Engine-Version', 400],
    ['X-Request-Id', 201],
    ['traceparent', 201],
  ])('is refused in the header %s, or neither kept nor echoed', async (header, status) => {
    for (const text of ['a\u0001b', 'a\u001b[2Jb', 'a\u007f', 'a\u009bb']) {
      const answer = await at.call('POST', '/v1/runs', {
        body: { workflowId: 'noop' },
        headers: { [header]: text },
      });

      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.json['details']).toMatchObject({ field: header });
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain(JSON.stringify(text).slice(1, -1));
      expect(Object.values(answer.headers).join('')).not.toContain(text);
    }
  });
});

describe('text that only people read', () => {
  it('may hold anything that JSON can, and comes back as it was sent', async () => {
    const text = 'two\nlines, \u0000, \u001b[2J, \u009b and \u202e';

    const { runId: started } = await at.start('noop', { inputs: { a: text }, metadata: { [text]: text } });
    const run = await at.call('GET', `/v1/runs/${started}`);
    const note = await at.call('POST', `/v1/runs/${started}/annotations`, {
      body: { signal: { kind: 'correction', correction: text }, note: text },
    });
    const cancelled = await at.call('POST', `/v1/runs/${runId}/cancel`, { body: { reason: text } });

    expect(run.json['metadata']).toEqual({ [text]: text });
    expect(note.json).toMatchObject({ note: text, signal: { correction: text } });
    expect(cancelled.status).toBe(200);
  });
});

import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { isWhole } from '../../suite/json-shapes.ts';

const PROMPTS = '/v1/prompts';
const RENDER = '/v1/prompts:render';
const KINDS = ['system', 'user', 'few-shot', 'schema-hint'];
const OBSERVABILITY = ['off', 'hashed', 'full'];
const HASH = /^sha256:[0-9a-f]{64}$/;
const MOST_BYTES = 65_536;
/** More pages than the suite makes templates. */
const MOST_PAGES = 20;

type Template = JsonObject & { readonly templateId: string };

function template(context: CheckContext, changes: JsonObject = {}): Template {
  const templateId = context
    .unique('prompt')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
  return {
    templateId,
    version: '1.0.0',
    kind: 'user',
    text: 'Greet {{name}}.',
    variables: [{ name: 'name', type: 'string', required: true }],
    ...changes,
  };
}

async function created(context: CheckContext, changes: JsonObject = {}): Promise<Template> {
  const body = template(context, changes);
  context.expect.status(await context.host.request('POST', PROMPTS, { body }), 201);
  return body;
}

/** Removed again in any case, with all its versions. */
async function withTemplate(
  context: CheckContext,
  changes: JsonObject,
  use: (made: Template) => Promise<void>,
): Promise<void> {
  const made = await created(context, changes);
  try {
    await use(made);
  } finally {
    await context.host.request('DELETE', pathOf(made));
  }
}

function pathOf({ templateId }: Template, query = ''): string {
  return `${PROMPTS}/${templateId}${query}`;
}

function render({ host }: CheckContext, { templateId }: Template, variables: JsonObject): Promise<Answer> {
  return host.request('POST', RENDER, { body: { ref: `prompt:${templateId}@1.0.0`, variables } });
}

/** The ids of a list, read to its end two at a time. */
async function listed({ host, expect }: CheckContext, query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await host.request('GET', `${PROMPTS}?limit=2${query}${cursor}`);
    expect.status(answer, 200);
    const body = expect.object(answer.json, 'the list is an object');
    const items = expect.array(body['items'], 'the list has items');
    expect.that(items.length <= 2, 'a page has at most as many items as were asked for', items.length);
    ids.push(...items.map((item) => String(isJsonObject(item) ? item['templateId'] : '')));
    const { nextCursor } = body;
    if (nextCursor === undefined) return ids;
    cursor = `&cursor=${encodeURIComponent(expect.string(nextCursor, 'a cursor is text'))}`;
  }
  return ids;
}

export const PROMPTS_CHECKS: readonly Check[] = [
  {
    id: 'prompts/capability',
    title: 'what is advertised about prompts is of the protocol',
    proves: ['PROMPT-1'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop', { key: null });
      expect.status(answer, 200);
      const discovery = expect.object(answer.json, 'discovery is a JSON object');
      const kinds = advertised(discovery, 'prompts.templateKinds');
      if (kinds !== undefined) {
        const strange = expect
          .array(kinds, 'templateKinds is a list')
          .filter((kind) => !KINDS.includes(String(kind)));
        expect.equal(strange, [], 'templateKinds lists kinds of the protocol alone');
      }
      const bytes = advertised(discovery, 'prompts.maxTemplateBytes');
      if (bytes !== undefined)
        expect.that(
          isWhole(bytes, 1) && bytes <= MOST_BYTES,
          `maxTemplateBytes is a whole number up to ${MOST_BYTES}`,
          bytes,
        );
      const shown = advertised(discovery, 'prompts.observability');
      if (shown !== undefined)
        expect.that(OBSERVABILITY.includes(String(shown)), 'observability is off, hashed or full', shown);
    },
  },
  {
    id: 'prompts/creation',
    title: 'a template is created once, found where the answer says, and gone when it is removed',
    proves: ['PROMPT-2', 'PROMPT-3', 'PROMPT-12'],
    async run(context) {
      const { host, expect } = context;
      const body = template(context, { tags: ['suite'] });

      const made = await host.request('POST', PROMPTS, { body });
      expect.status(made, 201);
      try {
        const location = expect.string(made.headers.get('location'), 'the answer has a Location');
        const { pathname, search } = new URL(location, 'http://host');
        const read = await host.request('GET', pathname + search);
        expect.status(read, 200);
        const found = expect.object(read.json, 'a template is an object');
        for (const [name, value] of Object.entries(body))
          expect.equal(found[name], value, `${name} is read as it was sent`);
        expect.envelope(await host.request('POST', PROMPTS, { body }), { status: 409 });
      } finally {
        const removed = await host.request('DELETE', pathOf(body));
        expect.status(removed, 204);
      }
      expect.envelope(await host.request('GET', pathOf(body)), { status: 404, code: 'not_found' });
    },
  },
  {
    id: 'prompts/refused',
    title: 'a template that is not as declared is refused',
    proves: ['PROMPT-4'],
    async run(context) {
      const { host, expect } = context;
      const wrong: JsonObject[] = [
        template(context, { unknownMember: 1 }),
        template(context, { kind: 'poem' }),
        template(context, { version: 'one' }),
        template(context, { templateId: 'Not A Name' }),
      ];
      for (const body of wrong)
        expect.envelope(await host.request('POST', PROMPTS, { body }), { status: 400 });
    },
  },
  {
    id: 'prompts/versions',
    title: 'an update raises the version, and earlier versions stay',
    proves: ['PROMPT-5', 'PROMPT-6'],
    async run(context) {
      const { host, expect } = context;
      await withTemplate(context, {}, async (made) => {
        const textAt = async (query: string): Promise<Json | undefined> => {
          const answer = await host.request('GET', pathOf(made, query));
          expect.status(answer, 200);
          return expect.object(answer.json, 'a template is an object')['text'];
        };
        const update = (version: string) =>
          host.request('PUT', pathOf(made), { body: { ...made, version, text: `At ${version}, {{name}}.` } });

        for (const version of ['1.0.0', '0.9.9']) expect.envelope(await update(version), { status: 409 });
        expect.equal(await textAt(''), made['text'] ?? null, 'a refused update changes nothing');
        expect.status(await update('1.10.0'), 200);
        expect.envelope(await update('1.9.0'), { status: 409 });
        expect.equal(await textAt(''), 'At 1.10.0, {{name}}.', 'without a version the newest is read');
        expect.equal(
          await textAt('?version=1.0.0'),
          made['text'] ?? null,
          'an earlier version stays as it was',
        );
        const none = await host.request('GET', pathOf(made, '?version=9.9.9'));
        expect.envelope(none, { status: 404, code: 'not_found' });
      });
    },
  },
  {
    id: 'prompts/etag',
    title: 'a template that is known is not sent again',
    proves: ['PROMPT-7'],
    async run(context) {
      const { host, expect } = context;
      await withTemplate(context, {}, async (made) => {
        const first = await host.request('GET', pathOf(made));
        const etag = expect.string(first.headers.get('etag'), 'a template has an ETag');

        const again = await host.request('GET', pathOf(made), { headers: { 'if-none-match': etag } });
        expect.status(again, 304);
        const other = { ...made, version: '1.0.1', text: 'Other, {{name}}.' };
        expect.status(await host.request('PUT', pathOf(made), { body: other }), 200);
        const changed = await host.request('GET', pathOf(made), { headers: { 'if-none-match': etag } });
        expect.status(changed, 200);
      });
    },
  },
  {
    id: 'prompts/list',
    title: 'the list is filtered and read page by page',
    proves: ['PROMPT-8'],
    async run(context) {
      const { expect } = context;
      const tag = template(context).templateId;
      const both = { tags: [tag, 'second'] };
      await withTemplate(context, { ...both, kind: 'system' }, (first) =>
        withTemplate(context, both, (second) =>
          withTemplate(context, { tags: [tag] }, async (third) => {
            const ids = (...made: Template[]) => made.map(({ templateId }) => templateId).sort();
            const found = async (query: string) => (await listed(context, query)).sort();

            const all = ids(first, second, third);
            expect.equal(await found(`&tag=${tag}`), all, 'a tag lists what has it, each once');
            expect.equal(
              await found(`&tag=${tag}&tag=second`),
              ids(first, second),
              'two tags list what has both',
            );
            expect.equal(await found(`&tag=${tag}&kind=system`), ids(first), 'a kind lists what is of it');
          }),
        ),
      );
    },
  },
  {
    id: 'prompts/render',
    title: 'a rendering is identified by hashes',
    proves: ['PROMPT-9', 'PROMPT-10'],
    async run(context) {
      const { host, expect } = context;
      const discovery = await host.request('GET', '/.well-known/openwop', { key: null });
      const isFull =
        isJsonObject(discovery.json) && advertised(discovery.json, 'prompts.observability') === 'full';
      await withTemplate(context, {}, async (made) => {
        const rendered = async (name: string) => {
          const answer = await render(context, made, { name });
          expect.status(answer, 200);
          return expect.object(answer.json, 'a rendering is an object');
        };
        const [first, again, other] = [await rendered('Ada'), await rendered('Ada'), await rendered('Bo')];

        expect.that(
          HASH.test(String(first['hash'])),
          'the hash is sha256: and 64 digits',
          first['hash'] ?? null,
        );
        const refs = expect.array(first['refs'], 'a rendering has refs');
        expect.that(
          refs.some((ref) => String(ref).includes(made.templateId)),
          'the refs name the template',
          refs,
        );
        const hashes = expect.object(first['variableHashes'], 'a rendering has variableHashes');
        expect.string(hashes['name'], 'each variable has a hash');
        expect.equal(again['hash'], first['hash'], 'equal values have the same hash');
        expect.that(other['hash'] !== first['hash'], 'other values have another hash');
        if (!isFull) {
          expect.equal(
            first['composed'],
            undefined,
            'the text is shown only where prompts are shown in full',
          );
          expect.that(!JSON.stringify(first).includes('Ada'), 'no value of a variable is shown');
        }
      });
    },
  },
  {
    id: 'prompts/render-refused',
    title: 'a rendering without what it needs is refused',
    proves: ['PROMPT-11'],
    async run(context) {
      const { host, expect } = context;
      await withTemplate(context, {}, async (made) => {
        expect.envelope(await render(context, made, {}), {
          status: 400,
          code: 'prompt_variable_unresolved',
        });
        expect.envelope(await render(context, made, { name: 7 }), {
          status: 400,
          code: 'prompt_variable_type_mismatch',
        });
      });
      const strange = await host.request('POST', RENDER, { body: { ref: 'no reference', variables: {} } });
      expect.envelope(strange, { status: 400 });
      const lost = { ref: `prompt:${template(context).templateId}@1.0.0`, variables: {} };
      expect.status(await host.request('POST', RENDER, { body: lost }), 400, 404);
    },
  },
  {
    id: 'prompts/credential',
    title: 'prompts need a credential',
    proves: ['PROMPT-13'],
    async run(context) {
      const { host, expect } = context;
      const asked = [
        host.request('GET', PROMPTS, { key: null }),
        host.request('GET', `${PROMPTS}/none`, { key: null }),
        host.request('POST', RENDER, { key: null, body: { ref: 'prompt:none@1.0.0', variables: {} } }),
      ];
      for (const answer of await Promise.all(asked)) expect.envelope(answer, { status: 401 });
    },
  },
  {
    id: 'prompts/scope',
    title: 'to change prompts needs prompts:write',
    proves: ['PROMPT-13'],
    needs: { key: 'lowScope' },
    async run(context) {
      const { host, expect, keys } = context;
      const answer = await host.request('POST', PROMPTS, {
        body: template(context),
        key: keys.lowScope ?? '',
      });

      expect.envelope(answer, { status: 403, code: 'forbidden' });
    },
  },
];

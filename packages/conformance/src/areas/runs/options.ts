import type { Check } from '../../suite/check.ts';

const MOST_TAGS = 100;
const LONGEST_TAG = 256;

export const RUN_OPTION_CHECKS: readonly Check[] = [
  {
    id: 'runs/options-kept',
    title: 'tags, metadata and configurable are kept as they were given',
    proves: ['RUN-43', 'RUN-45'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect, unique }) {
      const options = {
        tags: [unique('tag'), 'täg with spaces'],
        metadata: { 'com.example.ticket': unique(), nested: { list: [1, null, 'x'] } },
        configurable: { recursionLimit: 5 },
      };
      const runId = await runs.create('conformance-noop', options);

      const ended = await runs.ended(runId);

      for (const [name, given] of Object.entries(options)) {
        const shown = ended[name];
        if (shown !== undefined) expect.equal(shown, given, `the snapshot shows ${name} as it was given`);
      }
    },
  },
  {
    id: 'runs/tags',
    title: 'a hundred tags of 256 characters are taken, and no more or longer ones',
    proves: ['RUN-44'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const tagged = (tags: unknown) => runs.tryCreate('conformance-noop', { tags });
      const tags = Array.from({ length: MOST_TAGS }, (_, index) => `${index}`.padEnd(LONGEST_TAG, 'x'));

      const taken = await tagged(tags);

      expect.status(taken, 201);
      for (const refused of [[...tags, 'one more'], ['x'.repeat(LONGEST_TAG + 1)], [''], [7], 'text'])
        expect.envelope(await tagged(refused), { status: [400, 422] });
    },
  },
  {
    id: 'runs/reserved-keys',
    title: 'a reserved key of configurable that is out of range is refused on creation',
    proves: ['RUN-48'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      for (const configurable of [{ temperature: 2.5 }, { temperature: -1 }, { maxTokens: 0 }, 'text']) {
        const answer = await runs.tryCreate('conformance-noop', { configurable });
        expect.envelope(answer, { status: [400, 422] });
      }
    },
  },
  {
    id: 'runs/configurable-schema',
    title: "a workflow's configurableSchema is shown and enforced",
    proves: ['RUN-51'],
    needs: { fixtures: ['conformance-configurable-schema'] },
    async run({ runs, host, expect }) {
      const workflow = await host.request('GET', '/v1/workflows/conformance-configurable-schema');

      expect.status(workflow, 200);
      const definition = expect.object(workflow.json, 'a workflow is answered with an object');
      expect.object(definition['configurableSchema'], 'a workflow shows its configurableSchema');
      const refused = await runs.tryCreate('conformance-configurable-schema', {
        configurable: { notDeclared: true },
      });
      expect.envelope(refused, { status: [400, 422], code: 'validation_error' });
      const taken = await runs.tryCreate('conformance-configurable-schema', {
        configurable: { recursionLimit: 10 },
      });
      expect.status(taken, 201);
    },
  },
  {
    id: 'runs/inputs-shown',
    title: 'a snapshot shows declared inputs alone',
    proves: ['RUN-58'],
    needs: { fixtures: ['conformance-delay'] },
    async run({ runs, expect, unique }) {
      const other = unique('other');
      const runId = await runs.create('conformance-delay', { inputs: { delayMs: 1, [other]: 'x' } });

      const { inputs } = await runs.ended(runId);

      if (inputs !== undefined)
        expect.equal(inputs, { delayMs: 1 }, 'inputs are the declared ones, as given');
      else expect.equal(inputs, undefined, 'inputs may be left out');
    },
  },
];

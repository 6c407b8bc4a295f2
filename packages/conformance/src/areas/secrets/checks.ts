import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised, GATES } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { readDiscovery } from '../discovery/document.ts';
import { ofType } from '../events/log.ts';
import { ALL_SHAPES, canary, type Canary, type Shape } from './canaries.ts';
import { holdsText } from './in-clear.ts';

const NOOP = 'conformance-noop';
const BYOK = 'openwop-smoke-byok-roundtrip';
const SCOPES = ['tenant', 'user', 'run', 'workspace'];
/** The two that the scenario of 1.0.0 plants. */
const PLANTED: readonly Shape[] = ['openai', 'anthropic'];
/** Names under which a host would give a secret away. */
const TELLING_NAME = /"(?:password|plaintext|raw_secret)"\s*:\s*"/;
const STREAMED_MODES = ['updates', 'debug'];

function expectAbsent(
  { expect }: CheckContext,
  text: string,
  where: string,
  canaries: readonly Canary[],
): void {
  for (const { shape, marker } of canaries)
    expect.absent(text, marker, `a credential in the shape of ${shape} does not appear in ${where}`);
}

/** A run with credentials in its inputs, at several depths, that has ended. */
async function runWith({ runs }: CheckContext, shapes: readonly Shape[]) {
  const canaries = shapes.map((shape) => canary(shape));
  const values = canaries.map(({ value }) => value);
  const inputs = {
    ...Object.fromEntries(canaries.map(({ shape, value }) => [shape, value])),
    nested: { list: values, sentence: `The keys are ${values.join(' and ')}.` },
  };
  const runId = await runs.endedRun(NOOP, { inputs });
  return { runId, canaries };
}

const INPUT_CHECKS: readonly Check[] = [
  {
    id: 'secrets/inputs-in-events',
    title: 'keys of providers in the inputs do not reach the log',
    proves: ['SECRET-4'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { runId, canaries } = await runWith(context, PLANTED);

      const log = JSON.stringify(await context.runs.events(runId));

      expectAbsent(context, log, 'the events of the run', canaries);
    },
  },
  {
    id: 'secrets/more-inputs-in-events',
    title: 'credentials of other kinds in the inputs do not reach the log either',
    proves: ['SECRET-5'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { runId, canaries } = await runWith(
        context,
        ALL_SHAPES.filter((shape) => !PLANTED.includes(shape)),
      );

      const log = JSON.stringify(await context.runs.events(runId));

      expectAbsent(context, log, 'the events of the run', canaries);
    },
  },
  {
    id: 'secrets/inputs-in-streams',
    title: 'keys of providers in the inputs do not reach the streams',
    proves: ['SECRET-6'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { host, expect } = context;
      const { runId, canaries } = await runWith(context, PLANTED);

      for (const mode of STREAMED_MODES) {
        const stream = await host.stream(`/v1/runs/${runId}/events?streamMode=${mode}`);
        // A host need not serve every mode.
        if (mode !== 'updates' && stream.status === 400) continue;
        expect.status(stream, 200);
        const text = (await stream.rest()).map(({ data }) => data).join('\n');
        expectAbsent(context, text, `the stream of ${mode}`, canaries);
      }
    },
  },
  {
    id: 'secrets/inputs-in-bundle',
    title: 'credentials in the inputs do not reach the debug bundle',
    proves: ['SECRET-12'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { host, expect } = context;
      const { runId, canaries } = await runWith(context, [...PLANTED, 'credential']);

      const answer = await host.request('GET', `/v1/runs/${runId}/debug-bundle`);

      expect.status(answer, 200);
      expectAbsent(context, answer.text, 'the debug bundle', canaries);
    },
  },
  {
    id: 'secrets/credential-reference',
    title: 'the reference to a credential does not reach the log',
    proves: ['SECRET-7'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { runs, expect } = context;
      const reference = canary('credential');

      const answer = await runs.tryCreate(NOOP, { configurable: { 'ai.credentialRef': reference.value } });

      // A host may also refuse a reference that it does not know.
      if (answer.status !== 201) {
        expect.envelope(answer, { status: [400, 403, 404, 422] });
        return expectAbsent(context, answer.text, 'the refusal', [reference]);
      }
      const created = expect.object(answer.json, 'a created run is answered with an object');
      const runId = expect.string(created['runId'], 'a created run has a runId');
      await runs.ended(runId);
      const log = JSON.stringify(await runs.events(runId));
      expectAbsent(context, log, 'the events of the run', [reference]);
    },
  },
  {
    id: 'secrets/headers',
    title: 'credentials in headers stay where they are',
    proves: ['SECRET-13'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { runs } = context;
      const canaries = [canary('openai'), canary('jwt')];
      const [key, session] = canaries.map(({ value }) => value);

      const runId = await runs.create(
        NOOP,
        {},
        { headers: { 'x-api-key': `${key}`, cookie: `session=${session}` } },
      );

      const ended = await runs.ended(runId);
      expectAbsent(context, JSON.stringify(ended), 'the snapshot of the run', canaries);
      expectAbsent(context, JSON.stringify(await runs.events(runId)), 'the events of the run', canaries);
    },
  },
];

type Probe = (context: CheckContext, value: string) => Promise<Answer>;

/** Places of a request from which a careless error would quote. */
const PROBES: Readonly<Record<string, Probe>> = {
  'the id of a run': ({ host }, value) => host.request('GET', `/v1/runs/${encodeURIComponent(value)}`),
  'the id of an artifact': ({ host, unique }, value) =>
    host.request('GET', `/v1/runs/${unique()}/artifacts/${encodeURIComponent(value)}`),
  'the token of an interrupt': ({ host }, value) =>
    host.request('GET', `/v1/interrupts/${encodeURIComponent(value)}`, { key: null }),
  'a body that cannot be parsed': ({ host }, value) =>
    host.request('POST', '/v1/runs', { rawBody: `{"workflowId":"${value}",` }),
  'inputs of the wrong type': ({ runs }, value) => runs.tryCreate(NOOP, { inputs: value }),
  'the URL of a webhook': ({ host }, value) =>
    host.request('POST', '/v1/webhooks', {
      body: { url: `no URL: ${value}`, events: ['run.completed'] },
    }),
};

const ERROR_CHECKS: readonly Check[] = [
  {
    id: 'secrets/refused-credential',
    title: 'a refused credential is not repeated',
    proves: ['SECRET-3'],
    async run(context) {
      const { runs, expect } = context;

      for (const shape of ALL_SHAPES) {
        const bearer = canary(shape);
        const answer = await runs.tryCreate(NOOP, {}, { key: bearer.value });
        expect.envelope(answer, { status: 401 });
        const headers = JSON.stringify([...answer.headers]);
        expectAbsent(context, `${answer.text} ${headers}`, 'the answer that refuses it', [bearer]);
      }
    },
  },
  {
    id: 'secrets/workflow-id',
    title: 'an unknown workflowId is not repeated',
    proves: ['SECRET-8'],
    async run(context) {
      const { runs, expect } = context;
      const token = canary('jwt');

      const answer = await runs.tryCreate(token.value);

      expect.envelope(answer, { status: [400, 404, 403, 422] });
      expectAbsent(context, answer.text, 'the error for an unknown workflow', [token]);
    },
  },
  {
    id: 'secrets/other-errors',
    title: 'errors do not repeat what was sent',
    proves: ['SECRET-9'],
    async run(context) {
      const { expect } = context;

      for (const [place, probe] of Object.entries(PROBES)) {
        const value = canary('openai');
        const answer = await probe(context, value.value);
        expect.that(answer.status >= 400, `${place} is refused`, answer.status);
        expectAbsent(context, answer.text, `the error for ${place}`, [value]);
      }
    },
  },
];

/** What the node of the fixture shows of its secret, where the host shows it. */
function shownSecret({ variables }: JsonObject): JsonObject | undefined {
  const shown = isJsonObject(variables) ? variables['resolve-secret'] : undefined;
  return isJsonObject(shown) ? shown : undefined;
}

async function documentsOf(
  { host, runs, discovery }: CheckContext,
  runId: string,
): Promise<Record<string, Json>> {
  const stream = await host.stream(`/v1/runs/${runId}/events?streamMode=debug`);
  const documents: Record<string, Json> = {
    'the snapshot': await runs.snapshot(runId),
    'the events': await runs.events(runId),
    'the stream': (await stream.rest()).map(({ data }) => data),
  };
  if (!GATES.debugBundle.isOpen(discovery)) return documents;
  const bundle = await host.request('GET', `/v1/runs/${runId}/debug-bundle`);
  return { ...documents, 'the debug bundle': bundle.json ?? bundle.text };
}

const RESOLVED_CHECKS: readonly Check[] = [
  {
    id: 'secrets/byok-roundtrip',
    title: 'a node uses a secret and shows no more than its hash',
    proves: ['SECRET-10'],
    needs: { fixtures: [BYOK] },
    async run({ runs, expect }) {
      const runId = await runs.create(BYOK);

      const ended = await runs.ended(runId);

      expect.equal(ended['status'], 'completed', 'a run that uses a secret completes');
      const completed = ofType(await runs.events(runId), 'node.completed');
      const own = completed.filter(({ nodeId }) => nodeId === 'resolve-secret');
      expect.equal(own.length, 1, 'the node that uses a secret completes exactly once');
      const shown = shownSecret(ended);
      if (shown === undefined) return;
      const sha256 = expect.string(shown['secretSha256'], 'the hash of a secret is shown');
      expect.that(
        /^[0-9a-f]{64}$/.test(sha256),
        'the hash of a secret is 64 lower-case hexadecimal digits',
        sha256,
      );
      const length = expect.integer(shown['secretLength'], 'the length of a secret is shown');
      expect.that(length >= 8, 'a secret has at least 8 characters', length);
    },
  },
  {
    id: 'secrets/byok-in-clear',
    title: 'a secret that was used is nowhere in clear text',
    proves: ['SECRET-11'],
    needs: { fixtures: [BYOK] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create(BYOK);
      const shown = shownSecret(await runs.ended(runId));

      const documents = await documentsOf(context, runId);

      const { secretSha256, secretLength } = shown ?? {};
      for (const [where, document] of Object.entries(documents)) {
        const isTelling = TELLING_NAME.test(JSON.stringify(document));
        expect.that(!isTelling, `no member of ${where} is named for a secret in clear`);
        if (typeof secretSha256 !== 'string' || typeof secretLength !== 'number') continue;
        const isInClear = secretLength >= 8 && holdsText(document, secretSha256, secretLength);
        expect.that(!isInClear, `the secret is not in clear text in ${where}`);
      }
    },
  },
];

const DISCOVERY_CHECKS: readonly Check[] = [
  {
    id: 'secrets/discovery',
    title: 'discovery says which secrets a host keeps',
    proves: ['SECRET-1'],
    async run({ host, expect }) {
      const discovery = await readDiscovery({ host, expect });
      const secrets = expect.object(advertised(discovery, 'secrets'), 'secrets is an object');
      expect.that(
        typeof secrets['supported'] === 'boolean',
        'secrets.supported is a boolean',
        secrets['supported'],
      );
      const scopes = expect.array(secrets['scopes'], 'secrets.scopes is a list');
      expect.that(scopes.length > 0, 'secrets.scopes has at least one scope', scopes);
      for (const scope of scopes)
        expect.that(SCOPES.includes(String(scope)), `secrets.scopes has only ${SCOPES.join(', ')}`, scope);
      expect.equal(secrets['resolution'], 'host-managed', 'secrets.resolution is host-managed');
    },
  },
  {
    id: 'secrets/byok-providers',
    title: 'providers that take keys of their users are supported ones',
    proves: ['SECRET-2'],
    async run({ host, expect }) {
      const discovery = await readDiscovery({ host, expect });
      const providers = expect.object(advertised(discovery, 'aiProviders'), 'aiProviders is an object');
      const { supported = [], byok = [] } = providers;
      const all = expect.array(supported, 'aiProviders.supported is a list');
      for (const provider of expect.array(byok, 'aiProviders.byok is a list'))
        expect.that(
          all.includes(provider),
          'aiProviders.byok is a part of aiProviders.supported',
          provider,
          all,
        );
    },
  },
];

export const SECRETS_CHECKS: readonly Check[] = [
  ...DISCOVERY_CHECKS,
  ...INPUT_CHECKS,
  ...ERROR_CHECKS,
  ...RESOLVED_CHECKS,
];

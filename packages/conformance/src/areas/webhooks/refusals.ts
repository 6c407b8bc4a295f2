import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { readDiscovery } from '../discovery/document.ts';

const REFUSED_URLS = [
  'https://127.0.0.1/hook',
  'https://localhost/hook',
  'https://[::1]/hook',
  'https://10.0.0.1/hook',
  'https://172.16.0.1/hook',
  'https://172.31.255.254/hook',
  'https://192.168.0.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[fe80::1]/hook',
  'https://[fc00::1]/hook',
  'https://[fd12:3456::1]/hook',
  'https://metadata.google.internal/hook',
  'https://metadata/hook',
];
const REFUSED_SPELLINGS = [
  'https://2130706433/hook',
  'https://0x7f000001/hook',
  'https://0177.0.0.1/hook',
  'https://127.1/hook',
  'https://[::ffff:127.0.0.1]/hook',
  'https://[::ffff:a00:1]/hook',
  'https://[0:0:0:0:0:0:0:1]/hook',
  'https://LOCALHOST./hook',
];

/** With a tag that no run has, so that a host that wrongly takes it sends nothing anywhere. */
function tryRegister({ host, unique }: CheckContext, body: object, options: { key?: string | null } = {}) {
  return host.request('POST', '/v1/webhooks', {
    ...options,
    body: { url: 'https://example.com/hook', events: ['run.completed'], tags: [unique()], ...body },
  });
}

/** What cannot be registered. */
export const WEBHOOKS_REFUSAL_CHECKS: readonly Check[] = [
  {
    id: 'webhooks/no-url',
    title: 'a webhook needs a URL',
    proves: ['HOOK-1'],
    async run(context) {
      const answer = await tryRegister(context, { url: 'this is no URL' });

      context.expect.envelope(answer, { status: [400, 403, 404, 405, 422] });
    },
  },
  {
    id: 'webhooks/delete-unknown',
    title: 'an unknown webhook can be deleted, or is not found',
    proves: ['HOOK-2'],
    async run({ host, expect, unique }) {
      const answer = await host.request('DELETE', `/v1/webhooks/${unique()}`);

      if (answer.status === 204) return expect.status(answer, 204);
      expect.envelope(answer, { status: [403, 404] });
    },
  },
  {
    id: 'webhooks/url-rejected',
    title: 'a URL that is not delivered to is refused with a code of its own',
    proves: ['HOOK-29'],
    async run(context) {
      const answer = await tryRegister(context, { url: 'https://169.254.169.254/latest/meta-data' });

      context.expect.envelope(answer, { status: [400, 403, 422], code: 'webhook_url_rejected' });
    },
  },
  {
    id: 'webhooks/unknown-subscription',
    title: 'an unknown webhook is refused with a code of its own',
    proves: ['HOOK-30'],
    async run({ host, expect, unique }) {
      const answer = await host.request('DELETE', `/v1/webhooks/${unique()}`);

      if (answer.status === 204) return expect.status(answer, 204);
      expect.envelope(answer, { status: [403, 404], code: 'subscription_not_found' });
    },
  },
  {
    id: 'webhooks/https-only',
    title: 'only https URLs can be registered',
    proves: ['HOOK-3'],
    async run(context) {
      for (const url of ['http://example.com/hook', 'ftp://example.com/hook', 'file:///etc/passwd'])
        context.expect.envelope(await tryRegister(context, { url }), { status: [400, 403, 422] });
    },
  },
  {
    id: 'webhooks/private-addresses',
    title: 'addresses that are not public cannot be registered',
    proves: ['HOOK-4'],
    async run(context) {
      await expectRefused(context, REFUSED_URLS);
    },
  },
  {
    id: 'webhooks/spellings-of-addresses',
    title: 'addresses that are not public cannot be registered in any spelling',
    proves: ['HOOK-5'],
    async run(context) {
      await expectRefused(context, REFUSED_SPELLINGS);
    },
  },
  {
    id: 'webhooks/incomplete',
    title: 'a registration has events, and no members that are not declared',
    proves: ['HOOK-6'],
    async run(context) {
      for (const body of [
        { events: undefined },
        { events: [] },
        { events: 'run.completed' },
        { evnets: ['run.failed'] },
      ])
        context.expect.envelope(await tryRegister(context, body), { status: 400 });
    },
  },
  {
    id: 'webhooks/no-credential',
    title: 'a registration needs a credential',
    proves: ['HOOK-7'],
    async run(context) {
      context.expect.envelope(await tryRegister(context, {}, { key: null }), { status: 401 });
    },
  },
  {
    id: 'webhooks/low-scope',
    title: 'a registration needs the scope webhooks:manage',
    proves: ['HOOK-8'],
    needs: { key: 'lowScope' },
    async run(context) {
      const answer = await tryRegister(context, {}, { key: context.keys.lowScope ?? null });

      context.expect.envelope(answer, { status: 403 });
    },
  },
  {
    id: 'webhooks/another-tenant-named',
    title: 'a registration for a tenant of others is refused',
    proves: ['HOOK-9'],
    async run(context) {
      const answer = await tryRegister(context, { tenantId: context.unique('tenant') });

      context.expect.envelope(answer, { status: [400, 403, 404] });
    },
  },
  {
    id: 'webhooks/discovery',
    title: 'discovery has the signature algorithm v1',
    proves: ['HOOK-10'],
    async run({ host, expect }) {
      const discovery = await readDiscovery({ host, expect });
      const algorithms = advertised(discovery, 'webhooks.signatureAlgorithms');
      expect.that(
        algorithms === undefined || (Array.isArray(algorithms) && algorithms.includes('v1')),
        'webhooks.signatureAlgorithms is a list with v1',
        algorithms,
      );
    },
  },
];

async function expectRefused(context: CheckContext, urls: readonly string[]): Promise<void> {
  const { expect } = context;
  for (const url of urls) {
    const answer = await tryRegister(context, { url });
    expect.that(answer.status !== 201 && answer.status !== 200, `${url} is refused`, answer.status);
    expect.envelope(answer, { status: [400, 403, 422] });
  }
}

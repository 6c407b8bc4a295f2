import { isJsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { archiveOf, type Entry, manifestOf, MODULE, tar } from './archives.ts';

/** A publication that a registry refuses, by the word that its pack is named with. */
export interface Refused {
  /** One of these; the protocol knows some of them by two names. */
  readonly codes: readonly string[];
  readonly body: (name: string) => string | Uint8Array;
  readonly version?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const VERSION = '1.0.0';
const good = (name: string) => archiveOf(manifestOf(name, VERSION));
const withMember =
  (...entries: Entry[]) =>
  (name: string) =>
    archiveOf(manifestOf(name, VERSION), [MODULE, ...entries]);
const MANY = 'x'.repeat(5 * 1024 * 1024 + 1);

/** In the order in which the protocol looks: address, body, archive, manifest, digest. Several are wrong in more than one way. */
export const REFUSED: Readonly<Record<string, Refused>> = {
  version: { codes: ['invalid_version'], version: 'latest', body: () => '{}' },
  json: { codes: ['invalid_body'], headers: { 'content-type': 'application/json' }, body: () => '{}' },
  empty: { codes: ['invalid_body'], body: () => '' },
  text: { codes: ['tarball_gunzip_failed'], body: () => 'this is no archive' },
  bare: { codes: ['tarball_manifest_missing', 'missing_manifest'], body: () => tar([MODULE]) },
  prose: { codes: ['tarball_manifest_not_json'], body: () => archiveOf('a pack') },
  climbs: {
    codes: ['tarball_path_traversal', 'unsafe_paths'],
    body: withMember({ name: '../../etc/passwd' }),
  },
  rooted: { codes: ['tarball_path_traversal', 'unsafe_paths'], body: withMember({ name: '/etc/passwd' }) },
  heavy: { codes: ['tarball_entry_too_large'], body: withMember({ name: 'dist/large', data: MANY }) },
  wordy: {
    codes: ['tarball_manifest_too_large'],
    body: (name) => archiveOf(manifestOf(name, VERSION, { description: 'x'.repeat(257 * 1024) })),
  },
  hollow: { codes: ['tarball_entry_missing'], body: (name) => archiveOf(manifestOf(name, VERSION), []) },
  open: {
    codes: ['invalid_manifest'],
    body: (name) => archiveOf(manifestOf(name, VERSION, { scripts: { postinstall: 'sh' } })),
  },
  renamed: {
    codes: ['manifest_name_mismatch', 'manifest_mismatch', 'manifest_path_mismatch'],
    body: (name) => archiveOf(manifestOf(`${name}.other`, VERSION)),
  },
  aged: {
    codes: ['manifest_version_mismatch', 'manifest_mismatch', 'manifest_path_mismatch'],
    body: (name) => archiveOf(manifestOf(name, '2.0.0')),
  },
  forged: {
    codes: ['pack_integrity_failure'],
    headers: { 'x-pack-sha256': `sha256-${'A'.repeat(43)}=` },
    body: good,
  },
};

const SCOPES = ['local.weft.suite', 'private'];

export async function publish(
  { host }: CheckContext,
  name: string,
  body: string | Uint8Array,
  { version = VERSION, headers = {} }: Pick<Refused, 'version' | 'headers'> = {},
): Promise<Answer> {
  return host.request('PUT', `/v1/packs/${name}/-/${version}.tgz`, {
    rawBody: body,
    headers: { 'content-type': 'application/gzip', ...headers },
  });
}

/** A namespace of this run of the suite. Ends the check where packs cannot be published. */
export async function namespaceOf(context: CheckContext): Promise<string> {
  const { host, unique, notApplicable } = context;
  const search = await host.request('GET', '/v1/packs/-/search?q=openwop', { key: null });
  if (search.status !== 200) return notApplicable('it serves no registry');
  const namespace = `vendor.weft${unique().replaceAll(/[^a-z0-9]/g, '')}`;
  const { status } = await publish(context, `${namespace}.probe`, '');
  if (status === 401 || status === 403 || status === 404 || status === 405)
    return notApplicable('packs cannot be published with this key');
  return namespace;
}

/** Each under a name of its own, which is not there afterwards. */
export async function expectRefused(
  context: CheckContext,
  namespace: string,
  publications: Readonly<Record<string, Refused>>,
): Promise<void> {
  const { host, expect } = context;
  for (const [word, refused] of Object.entries(publications)) {
    const name = `${namespace}.${word}`;
    const answer = await publish(context, name, refused.body(name), refused);
    expect.envelope(answer, { status: [400, 413], code: refused.codes });
    if (refused.version !== undefined) continue;
    expect.status(await host.request('GET', `/v1/packs/${name}`, { key: null }), 404);
  }
}

export const PUBLISHING_CHECKS: readonly Check[] = [
  {
    id: 'packs/refused-publications',
    title:
      'a registry refuses a publication by the first thing that is wrong with it, and keeps nothing of it',
    proves: ['PACK-8', 'PACK-10', 'PACK-11'],
    async run(context) {
      const { expect } = context;
      await expectRefused(context, await namespaceOf(context), REFUSED);
      for (const name of SCOPES)
        expect.envelope(await publish(context, name, good(name)), {
          status: [400, 403],
          code: ['invalid_pack_scope', 'invalid_pack_name', 'forbidden'],
        });
    },
  },
  {
    id: 'packs/published-versions',
    title: 'a version never changes, and one that was withdrawn is still there for those who name it',
    proves: ['PACK-10', 'PACK-15'],
    async run(context) {
      const { host, expect } = context;
      const name = `${await namespaceOf(context)}.kept`;
      const at = `/v1/packs/${name}/-/${VERSION}`;
      expect.status(await publish(context, name, good(name)), 201);
      try {
        expect.status(await publish(context, name, good(name)), 200);
        const other = archiveOf(manifestOf(name, VERSION, { description: 'Another one.' }));
        expect.envelope(await publish(context, name, other), {
          status: 409,
          code: ['conflict', 'version_conflict'],
        });

        const deprecated = await host.request('POST', `${at}/deprecate`, { body: { reason: 'Old.' } });
        expect.status(deprecated, 200);
        expect.that(
          isJsonObject((await entryOf(context, name))['deprecation']),
          'a deprecated version says so',
        );
        const yanked = await host.request('POST', `${at}/yank`, { body: { reason: 'Harmful.' } });
        if (yanked.status === 403) return;
        expect.status(yanked, 200);
        expect.that(isJsonObject((await entryOf(context, name))['yanked']), 'a withdrawn version says so');
        expect.status(await host.request('GET', `${at}.tgz`, { key: null }), 200);
        expect.envelope(await host.request('GET', `${at}.sig`, { key: null }), { status: 404 });
      } finally {
        await host.request('DELETE', at);
      }
    },
  },
];

async function entryOf({ host, expect }: CheckContext, name: string) {
  const answer = await host.request('GET', `/v1/packs/${name}`, { key: null });
  const pack = expect.object(answer.json, 'a pack that was published is an object');
  const versions = expect.object(pack['versions'], 'versions is an object');
  return expect.object(versions[VERSION], 'the version that was published is listed');
}

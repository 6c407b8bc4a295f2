import { type JsonObject, PACKS_PATH } from '@weft/protocol';

/** What a registry says about itself, for clients of any registry. */
export function registryDocument(url: string): JsonObject {
  const pack = `${url}${PACKS_PATH}/{name}`;
  return {
    registryVersion: '1',
    protocolVersion: '1.0',
    supportedNamespaces: ['vendor', 'community', 'private'],
    supportedSigningMethods: ['manual', 'none'],
    endpoints: {
      pack,
      manifest: `${pack}/-/{version}.json`,
      tarball: `${pack}/-/{version}.tgz`,
      signature: `${pack}/-/{version}.sig`,
      keychain: `${pack}/-/keychain`,
      search: `${url}${PACKS_PATH}/-/search?q={query}`,
    },
    writeApi: {
      publish: `${pack}/-/{version}.tgz`,
      scopes: ['packs:publish', 'packs:yank', 'packs:yank-revert'],
    },
    lifecycle: { unpublishWindowHours: 72, deprecate: true, yank: true },
    signingKeys: [],
  };
}

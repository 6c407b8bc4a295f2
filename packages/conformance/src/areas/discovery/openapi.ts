import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Check } from '../../suite/check.ts';

/** More parts than any description of a host has; beyond them nothing is looked at. */
const MAX_PARTS = 200_000;

export const OPENAPI_CHECKS: readonly Check[] = [
  {
    id: 'discovery/openapi',
    title: 'anyone can read the OpenAPI document, and it is a sound one',
    proves: ['DISC-40', 'DISC-41', 'DISC-42'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/v1/openapi.json', { key: null });

      expect.status(answer, 200);
      const document = expect.object(answer.json, 'openapi.json is a JSON object');
      const version = expect.string(document['openapi'], 'openapi.json says its version');
      expect.that(/^3\.[1-9]/.test(version), 'openapi.json is of OpenAPI 3.1 or newer', version);
      const paths = Object.keys(expect.object(document['paths'], 'openapi.json has paths'));
      const isVersioned = paths.some((path) => path.startsWith('/v1/'));
      const servers = serverPaths(document).filter((path) => /\/v1\/?$/.test(path));
      expect.that(
        !isVersioned || servers.length === 0,
        'servers of openapi.json do not repeat the /v1 of its paths',
        servers,
      );
      expect.equal(deadReferences(document), [], 'every $ref within openapi.json leads somewhere');
    },
  },
];

function serverPaths({ servers }: JsonObject): string[] {
  const list = Array.isArray(servers) ? servers : [];
  return list.flatMap((server) =>
    isJsonObject(server) && typeof server['url'] === 'string' ? [server['url']] : [],
  );
}

/** Pointers into the document itself that lead nowhere. Parts with an `$id` have a base of their own and are left out. */
function deadReferences(document: JsonObject): string[] {
  const dead = new Set<string>();
  const open: Json[] = [document];
  for (let seen = 0; seen < MAX_PARTS; seen += 1) {
    const part = open.pop();
    if (part === undefined) break;
    if (Array.isArray(part)) open.push(...part);
    if (!isJsonObject(part) || typeof part['$id'] === 'string') continue;
    const reference = part['$ref'];
    if (typeof reference === 'string' && reference.startsWith('#/') && !leadsSomewhere(document, reference))
      dead.add(reference);
    open.push(...Object.values(part));
  }
  return [...dead];
}

function leadsSomewhere(document: JsonObject, reference: string): boolean {
  let part: Json | undefined = document;
  for (const step of reference.slice(2).split('/')) {
    const name = unescaped(step);
    if (Array.isArray(part)) part = part[Number(name)];
    else part = isJsonObject(part) ? part[name] : undefined;
  }
  return part !== undefined;
}

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

import { type JsonObject, nameOf } from '@weft/protocol';
import { Type, type Static } from 'typebox';
import type { EffectInput, PrepareTools, Secrets } from '../../model/node-type.ts';
import { HOST_OWNED_HEADERS } from '../../runtime/egress/hop.ts';
import { closedConfig } from '../config/config-schema.ts';
import type { UnsentRequest } from './http-request-config.ts';

/**
 * Headers whose values are secrets. The definition names the secret; its value is put in just before the request leaves, and
 * is in no event.
 *
 * A secret header wins over a header of the same name from a port, and over `credentialsRef`.
 * A secret stays with the origin it was meant for: the egress drops `authorization` where a redirect leaves it; with
 *       any other secret header redirects are not followed.
 */

const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$";
const secretId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' });

export const secretHeadersConfig = Type.Record(
  Type.String({ pattern: HEADER_NAME }),
  Type.Union([secretId, closedConfig({ secretId, prefix: Type.Optional(nameOf({ maxLength: 128 })) })]),
  { additionalProperties: false },
);

interface SecretHeader {
  /** In lower case. */
  readonly name: string;
  readonly secretId: string;
  readonly prefix: string;
}

function secretHeaders(config: JsonObject): readonly SecretHeader[] {
  const declared = (config['secretHeaders'] ?? {}) as Static<typeof secretHeadersConfig>;
  return Object.entries(declared).map(([name, value]) =>
    typeof value === 'string'
      ? { name: name.toLowerCase(), secretId: value, prefix: '' }
      : { name: name.toLowerCase(), secretId: value.secretId, prefix: value.prefix ?? '' },
  );
}

export function requiredByHeaders(config: JsonObject): readonly string[] {
  if (config['secretHeaders'] === undefined) return [];
  return [...new Set(secretHeaders(config).map((header) => header.secretId))];
}

/** What a schema cannot say about them, checked when the definition is registered. */
export function checkSecretHeaders(config: JsonObject, tools: PrepareTools): void {
  const plain = new Set(
    Object.keys((config['headers'] ?? {}) as JsonObject).map((name) => name.toLowerCase()),
  );
  const seen = new Set<string>();
  for (const { name } of secretHeaders(config)) {
    if (HOST_OWNED_HEADERS.has(name))
      tools.refuse('/secretHeaders', `"${name}" is set by the host; remove it.`);
    if (plain.has(name)) tools.refuse('/secretHeaders', `"${name}" stands in headers too; remove one.`);
    if (seen.has(name)) tools.refuse('/secretHeaders', `"${name}" stands there twice; remove one.`);
    seen.add(name);
  }
  if (config['followRedirects'] === true && !maySendElsewhere(config)) {
    tools.refuse(
      '/followRedirects',
      'A redirect could take a secret header to another origin; leave followRedirects out, or send the secret as Authorization.',
    );
  }
}

export function usesSecrets({ config, credentialsRef }: EffectInput): boolean {
  return config['secretHeaders'] !== undefined || credentialsRef !== undefined;
}

/** The request as it is sent. The caller has checked that the secrets exist. */
export async function withSecrets(
  request: UnsentRequest,
  { config, credentialsRef }: EffectInput,
  secrets: Secrets,
): Promise<UnsentRequest> {
  const headers = { ...request.headers };
  if (credentialsRef !== undefined)
    headers['authorization'] = `Bearer ${await secrets.resolve(credentialsRef)}`;
  for (const header of secretHeaders(config))
    headers[header.name] = header.prefix + (await secrets.resolve(header.secretId));
  return { ...request, headers, followRedirects: request.followRedirects && maySendElsewhere(config) };
}

function maySendElsewhere(config: JsonObject): boolean {
  return secretHeaders(config).every(({ name }) => name === 'authorization');
}

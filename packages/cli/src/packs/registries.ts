/** The registries that packs are installed from: `registries` of the config file, or the one that a flag names. */
import type { AskRegistry, Registry } from '@weft/packs';
import { compileValidator, fieldName, type Json } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import { type CliError, unusable, usageError } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { ServeSettings } from '../serve/settings/settings.ts';

const RegistriesSchema = Type.Array(
  Type.Object(
    {
      url: Type.String({ format: 'uri', maxLength: 2_048 }),
      /** Only packs whose names begin with one of these are asked for there. */
      namespaces: Type.Optional(
        Type.Array(
          Type.String({ pattern: '^(vendor|community|private)(\\.[a-zA-Z0-9_-]+)*$', maxLength: 256 }),
          {
            minItems: 1,
            maxItems: 100,
          },
        ),
      ),
      /** Name of the environment variable that holds a key of the registry. */
      keyVariable: Type.Optional(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,127}$' })),
    },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: 20 },
);

const validate = compileValidator(RegistriesSchema);

interface ConfiguredRegistry extends Registry {
  readonly namespaces: readonly string[] | undefined;
}

export interface Registries {
  /** Those that may have the pack, in the order of the configuration. Throws CliError when there is none. */
  of(name: string): readonly Registry[];
  readonly ask: AskRegistry;
}

/** `given`: a URL in place of those of the config file. */
export async function openRegistries(
  { env }: Pick<Io, 'env'>,
  { blocks, allowEgress }: Pick<ServeSettings, 'blocks' | 'allowEgress'>,
  given: string | undefined,
): Promise<Registries> {
  const registries: readonly ConfiguredRegistry[] =
    given === undefined
      ? configured(blocks.registries, env)
      : [
          {
            url: baseOf(given, '--registry', usageError),
            namespaces: undefined,
            key: env['WEFT_REGISTRY_KEY'],
          },
        ];
  return {
    of(name) {
      const found = registries.filter(
        ({ namespaces }) =>
          namespaces === undefined || namespaces.some((each) => `${name}.`.startsWith(`${each}.`)),
      );
      if (found.length > 0) return found;
      throw unusable(
        'no_registry',
        `No registry is known that may have ${name}. Name one with --registry URL, or list it as "registries" in the config file (--config FILE).`,
      );
    },
    ask: await asking(allowEgress),
  };
}

function configured(block: Json | undefined, env: Io['env']): ConfiguredRegistry[] {
  if (block === undefined) return [];
  const [problem] = validate(block);
  if (problem !== undefined)
    throw badConfig(
      `registries${fieldName(problem.path).replace(/^(?=[^[])/, '.')} in the config file is not valid: ${problem.message}.`,
    );
  return (block as Static<typeof RegistriesSchema>).map(({ url, namespaces, keyVariable }, index) => {
    const key = keyVariable === undefined ? undefined : env[keyVariable];
    if (keyVariable !== undefined && (key === undefined || key === ''))
      throw badConfig(`registries[${index}].keyVariable names ${keyVariable}, which is not set.`);
    return { url: baseOf(url, `registries[${index}].url`, badConfig), namespaces, key };
  });
}

function baseOf(url: string, place: string, error: (message: string) => CliError): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain =
    parsed !== undefined &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username + parsed.password + parsed.search + parsed.hash === '';
  if (!isPlain) throw error(`${place} takes the address of a registry, such as https://packs.example.org.`);
  return url.replace(/\/+$/, '');
}

const CONNECT_MS = 10_000;
const WHOLE_MS = 120_000;

/** The way out is that of nodes: nothing but public addresses, and what the operator allows. */
async function asking(allow: readonly string[]): Promise<AskRegistry> {
  const { createEgress } = await import('@weft/engine');
  const egress = createEgress({ allow, connectTimeoutMs: CONNECT_MS });
  return async (url, headers, maxResponseBytes) => {
    const {
      status,
      headers: answered,
      body,
    } = await egress.fetch({
      url,
      method: 'GET',
      headers: { accept: '*/*', ...headers },
      signal: AbortSignal.timeout(WHOLE_MS),
      maxResponseBytes,
      followRedirects: true,
    });
    return { status, headers: answered, body };
  };
}

function badConfig(message: string): CliError {
  return unusable('bad_config', message);
}

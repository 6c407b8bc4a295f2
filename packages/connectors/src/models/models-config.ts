import { type ModelPolicy, POLICY_MODES } from '@weft/engine';
import { compileValidator, type Json } from '@weft/protocol';
import { Type } from 'typebox';
import { type ProviderKind, PROVIDER_KINDS } from './provider-kinds.ts';

/** The block `models` of a host's config file, read and checked. */
export interface ModelsConfig {
  /** By name, in the order of the file. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly default: ModelName | undefined;
  /** By the kind of model that an agent of a pack asks for; the default serves the others. */
  readonly classes: ReadonlyMap<string, ModelName>;
  readonly fallback: readonly ModelName[];
}

export interface ProviderConfig {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** Id of a secret of the operator. */
  readonly secretId: string | undefined;
  readonly policy: ModelPolicy;
  /** For one call, from the request to the last byte of the answer. */
  readonly timeoutMs: number;
}

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** A field of the block that cannot be used. */
export class ModelsConfigError extends Error {
  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.name = 'ModelsConfigError';
  }
}

/** Kinds of models that the protocol's agents may ask for. */
export const MODEL_CLASSES = [
  'reasoning',
  'writing',
  'coding',
  'research',
  'classification',
  'general',
] as const;

const DEFAULT_TIMEOUT_MS = 300_000;
const MOST_PROVIDERS = 64;
const MOST_FALLBACKS = 8;
const NAME = '^[a-z0-9][a-z0-9_-]{0,63}$';
const SECRET = /^secret:([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;

const optional = Type.Optional;
const closed = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Object(properties, { additionalProperties: false });
const text = Type.String({ minLength: 1, maxLength: 2_048 });

const provider = closed({
  kind: text,
  baseUrl: optional(text),
  apiKey: optional(text),
  policy: optional(
    closed({
      mode: Type.Enum([...POLICY_MODES]),
      allowedModels: optional(Type.Array(text, { maxItems: 1_000 })),
    }),
  ),
  timeoutMs: optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
});

const check = compileValidator(
  closed({
    providers: Type.Object(
      {},
      { additionalProperties: provider, minProperties: 1, maxProperties: MOST_PROVIDERS },
    ),
    default: optional(text),
    classes: optional(closed(Object.fromEntries(MODEL_CLASSES.map((name) => [name, optional(text)])))),
    fallback: optional(Type.Array(text, { maxItems: MOST_FALLBACKS })),
  }),
);

/** As the validator has found it. */
interface GivenModels {
  readonly providers: Readonly<Record<string, GivenProvider>>;
  readonly default?: string;
  readonly classes?: Readonly<Record<string, string>>;
  readonly fallback?: readonly string[];
}

interface GivenProvider {
  readonly kind: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly policy?: ModelPolicy;
  readonly timeoutMs?: number;
}

/** Throws ModelsConfigError, which names the field. */
export function readModelsConfig(value: Json): ModelsConfig {
  const [problem] = check(value);
  if (problem !== undefined) {
    throw new ModelsConfigError(`models${problem.path.replaceAll('/', '.')}:`, `${problem.message}.`);
  }
  const given = value as unknown as GivenModels;
  const providers = new Map(
    Object.entries(given.providers).map(([name, entry]) => [name, readProvider(name, entry)] as const),
  );
  return {
    providers,
    default: given.default === undefined ? undefined : named(given.default, 'models.default', providers),
    classes: new Map(
      Object.entries(given.classes ?? {}).map(([name, model]) => [
        name,
        named(model, `models.classes.${name}`, providers),
      ]),
    ),
    fallback: (given.fallback ?? []).map((name, index) => named(name, `models.fallback.${index}`, providers)),
  };
}

function readProvider(name: string, given: GivenProvider): ProviderConfig {
  const field = `models.providers.${name}`;
  if (!new RegExp(NAME).test(name)) {
    throw new ModelsConfigError(field, 'is no name: small letters, digits, "-" and "_", at most 64.');
  }
  const kind = PROVIDER_KINDS.get(given.kind);
  if (kind === undefined) {
    throw new ModelsConfigError(`${field}.kind`, `must be one of ${[...PROVIDER_KINDS.keys()].join(', ')}.`);
  }
  const { mode = 'optional', allowedModels } = given.policy ?? {};
  if (mode !== 'restricted' && allowedModels !== undefined) {
    throw new ModelsConfigError(`${field}.policy.allowedModels`, 'is for the mode "restricted" alone.');
  }
  return {
    name,
    kind,
    baseUrl: baseUrlOf(given.baseUrl ?? kind.baseUrl, `${field}.baseUrl`, kind),
    secretId: secretOf(given.apiKey, `${field}.apiKey`, kind),
    policy: mode === 'restricted' ? { mode, allowedModels: allowedModels ?? [] } : { mode },
    timeoutMs: given.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

function baseUrlOf(given: string | undefined, field: string, kind: ProviderKind): string {
  if (!kind.isRemote) {
    if (given === undefined) return '';
    throw new ModelsConfigError(field, `is nothing that the kind "${kind.kind}" has.`);
  }
  const url = given !== undefined && URL.canParse(given) ? new URL(given) : undefined;
  const isUsable =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (!isUsable) {
    throw new ModelsConfigError(
      field,
      'must be an http or https URL without user name, query and fragment, such as http://127.0.0.1:11434/v1.',
    );
  }
  return url.href.replace(/\/+$/, '');
}

function secretOf(given: string | undefined, field: string, kind: ProviderKind): string | undefined {
  if (given === undefined) return undefined;
  if (!kind.isRemote) throw new ModelsConfigError(field, `is nothing that the kind "${kind.kind}" has.`);
  const [, secretId] = SECRET.exec(given) ?? [];
  // The text itself is not repeated: it may be a key.
  if (secretId !== undefined) return secretId;
  throw new ModelsConfigError(
    field,
    'must be secret:NAME, with the name of a secret that weft secrets set has kept.',
  );
}

function named(name: string, field: string, providers: ModelsConfig['providers']): ModelName {
  const found = splitName(name);
  if (found !== undefined && providers.has(found.provider)) return found;
  throw new ModelsConfigError(
    field,
    `must be PROVIDER/MODEL with one of the providers ${[...providers.keys()].join(', ')}.`,
  );
}

/** A model's own name may hold slashes. */
export function splitName(name: string): ModelName | undefined {
  const cut = name.indexOf('/');
  if (cut < 1 || cut === name.length - 1) return undefined;
  return { provider: name.slice(0, cut), model: name.slice(cut + 1) };
}

import { resolve } from 'node:path';
import type { HostLimits } from '@weft/engine';
import { type Json, isJsonObject } from '@weft/protocol/plain';
import { type CliError, unusable, usageError } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { closestName } from '../../parsing/closest-name.ts';
import { readJsonFile } from '../../parsing/key-values.ts';
import { CONFIG_BLOCKS, type ConfigBlock } from './config-blocks.ts';
import { isLoopbackBind } from './loopback.ts';
import { type OtlpSettings, otlpSettings } from './otlp-settings.ts';
import type { Given, SettingKind } from './setting-kinds.ts';
import {
  ALL_SETTINGS,
  LIMIT_SETTINGS,
  nameOf,
  type Setting,
  SETTINGS,
  variableOf,
} from './settings-table.ts';

type SettingValues = {
  readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]['kind'] extends SettingKind<infer Value>
    ? Value
    : never;
};

/** How a host is to be started: what the table says, read and checked. */
export interface ServeSettings extends Omit<SettingValues, 'store'> {
  /** Where runs are kept; undefined: in the data folder. */
  readonly store: PostgresSettings | undefined;
  readonly otlp: OtlpSettings | undefined;
  readonly limits: Partial<HostLimits>;
  /** As they stand in the config file, unread. */
  readonly blocks: Readonly<Partial<Record<ConfigBlock, Json>>>;
}

export interface PostgresSettings {
  /** May hold a password: never to be shown. */
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly waitMs: number;
}

export interface SettingSources {
  /** Every value a flag was given; a switch that was set has the value "true". */
  readonly flags: (name: string) => readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: { readonly file: string; readonly value: Json } | undefined;
}

/** From the flags of a command, the variables, and the config file that one of them names. */
export async function readSettings(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  flags: SettingSources['flags'],
): Promise<ServeSettings> {
  const file = SETTINGS.config.kind.read(find({ flags, env, config: undefined }, 'config', SETTINGS.config));
  const config = file === undefined ? undefined : { file, value: await readJsonFile(resolve(cwd, file)) };
  return resolveSettings({ flags, env, config });
}

export function resolveSettings(sources: SettingSources): ServeSettings {
  checkConfigNames(sources.config);
  const read = <Value>(key: string, setting: Setting<Value>): readonly [string, Value] => [
    key,
    setting.kind.read(find(sources, key, setting)),
  ];
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([key, setting]: [string, Setting]) => read(key, setting)),
  ) as SettingValues;
  refuseGrpcInClear(values);
  const limits = LIMIT_SETTINGS.map(([key, setting]) => read(key, setting));
  return {
    ...values,
    store: values.store === undefined ? undefined : postgresSettings(values.store, values),
    otlp: values.otlpEndpoint === undefined ? undefined : otlpSettings(values.otlpEndpoint, sources.env),
    limits: Object.fromEntries(limits.filter(([, value]) => value !== undefined)),
    blocks: blocksOf(sources.config),
  };
}

function blocksOf(config: SettingSources['config']): ServeSettings['blocks'] {
  if (!isJsonObject(config?.value)) return {};
  return Object.fromEntries(
    Object.entries(config.value).filter(([name]) => Object.hasOwn(CONFIG_BLOCKS, name)),
  );
}

/** Without TLS, keys and runs would pass the network in clear. */
function refuseGrpcInClear({ grpcPort, host }: SettingValues): void {
  if (grpcPort === undefined || isLoopbackBind(host)) return;
  throw usageError(
    `gRPC is served without TLS, and so on loopback only: --grpc-port cannot be combined with --host ${host}. ` +
      'Remove one of them, or end TLS for gRPC in a proxy on this machine.',
  );
}

function postgresSettings(url: string, values: SettingValues): PostgresSettings {
  const { storeSchema: schema, storeConnections: connections, storeWaitMs: waitMs } = values;
  return { url, schema, connections, waitMs };
}

function find(sources: SettingSources, key: string, setting: Setting): Given | undefined {
  const name = nameOf(key);
  for (const source of setting.sources) {
    const given = FROM[source](sources, name, variableOf(key));
    if (given !== undefined) return given;
  }
  const { otherVariable } = setting;
  return otherVariable === undefined ? undefined : FROM.variable(sources, name, otherVariable);
}

const FROM: Readonly<
  Record<
    Setting['sources'][number],
    (sources: SettingSources, name: string, variable: string) => Given | undefined
  >
> = {
  flag({ flags }, name) {
    const values = flags(name);
    return values.length === 0 ? undefined : { values, from: `--${name}`, error: usageError };
  },
  variable({ env }, _, variable) {
    const value = env[variable] ?? '';
    return value === '' ? undefined : { values: [value], from: variable, error: usageError };
  },
  file({ config }, name) {
    if (config === undefined || !isJsonObject(config.value) || !Object.hasOwn(config.value, name))
      return undefined;
    const from = `"${name}" in ${config.file}`;
    return { values: configValues(config.value[name] ?? null, from), from, error: badConfig };
  },
};

function configValues(value: Json, from: string): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  if (values.some((item) => item === null || typeof item === 'object'))
    throw badConfig(`${from} takes a text, a number, true, false or a list of texts.`);
  return values.map(String);
}

function checkConfigNames(config: SettingSources['config']): void {
  if (config === undefined) return;
  if (!isJsonObject(config.value)) throw badConfig(`${config.file} must hold a JSON object.`);
  const known = [
    ...ALL_SETTINGS.filter(({ sources }) => sources.includes('file')).map(({ name }) => name),
    ...Object.keys(CONFIG_BLOCKS),
  ];
  for (const name of Object.keys(config.value)) {
    if (known.includes(name)) continue;
    const near = closestName(name, known);
    const hint = near === undefined ? 'See docs/reference/settings.md.' : `Did you mean "${near}"?`;
    throw badConfig(`${config.file} has an unknown setting "${name}". ${hint}`);
  }
}

function badConfig(message: string): CliError {
  return unusable('bad_config', message);
}

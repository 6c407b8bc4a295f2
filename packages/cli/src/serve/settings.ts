import { isIP } from 'node:net';
import type { HostLimits, LogLevel } from '@weft/engine';
import { type Json, isJsonObject } from '@weft/protocol/plain';
import { closestName } from '../parsing/closest-name.ts';
import { DEFAULT_DATA } from '../connecting/data-folder.ts';
import { type CliError, unusable, usageError } from '../exit-code.ts';
import { LIMIT_FLAGS } from './limit-flags.ts';
import { TELEMETRY_SETTINGS, type TelemetrySettings, telemetrySettings } from './telemetry-flags.ts';

/** How a host is to be started. Flags win over WEFT_* variables, which win over the config file. */
export interface ServeSettings {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  /** Where runs are kept; undefined: in the data folder. */
  readonly store: PostgresSettings | undefined;
  readonly workflows: readonly string[];
  readonly conformance: boolean;
  readonly auditRuns: boolean;
  /** File that the last seal of the audit log is kept in. */
  readonly auditAnchor: string | undefined;
  readonly allowEgress: readonly string[];
  readonly dev: boolean;
  readonly strict: boolean;
  readonly logLevel: LogLevel;
  /** Undefined: lines for people on a terminal, JSON elsewhere. */
  readonly logFormat: 'json' | 'text' | undefined;
  readonly accessLog: boolean;
  readonly publicUrl: string | undefined;
  /** Addresses and ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Host headers that may stand in URLs of answers. */
  readonly allowedHosts: readonly string[];
  /** Requests per second and key; 0 = off; undefined = off on loopback only. */
  readonly rateLimit: number | undefined;
  readonly limits: Partial<HostLimits>;
  readonly telemetry: TelemetrySettings;
  /** Start although acknowledged writes are missing. A flag alone: it is for one start, and no setting. */
  readonly acceptDataLoss: boolean;
}

export interface PostgresSettings {
  /** May hold a password: never to be shown. */
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  /** How long a server that is away is waited for at the start. */
  readonly waitMs: number;
}

export type SettingKind = 'text' | 'list' | 'number' | 'switch';

/** Every name that flags, variables and the config file share. */
export const SETTINGS: Readonly<Record<string, SettingKind>> = {
  port: 'number',
  host: 'text',
  data: 'text',
  store: 'text',
  'store-schema': 'text',
  'store-connections': 'number',
  'store-wait-ms': 'number',
  workflows: 'list',
  conformance: 'switch',
  'audit-runs': 'switch',
  'audit-anchor': 'text',
  'allow-egress': 'list',
  dev: 'switch',
  strict: 'switch',
  'log-level': 'text',
  'log-format': 'text',
  'access-log': 'switch',
  'public-url': 'text',
  'trusted-proxies': 'list',
  'allowed-hosts': 'list',
  'rate-limit': 'number',
  ...TELEMETRY_SETTINGS,
  ...Object.fromEntries(LIMIT_FLAGS.map(({ flag }) => [flag, 'number' as const])),
};

export interface SettingSources {
  /** Every value a flag was given; a switch that was set has the value "true". */
  readonly flags: (name: string) => readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: { readonly file: string; readonly value: Json } | undefined;
}

/** A value with the name of where it came from, for messages. */
interface Given {
  readonly values: readonly string[];
  readonly from: string;
  readonly error: (message: string) => CliError;
}

export function resolveSettings(sources: SettingSources): ServeSettings {
  checkConfigNames(sources.config);
  const given = (name: string): Given | undefined => findGiven(sources, name);
  const limits = LIMIT_FLAGS.flatMap(({ flag, limit }) => {
    const value = wholeNumber(given(flag), Number.MAX_SAFE_INTEGER);
    return value === undefined ? [] : [[limit, value] as const];
  });
  return {
    port: wholeNumber(given('port'), 65_535) ?? 7878,
    host: text(given('host')) ?? '127.0.0.1',
    data: text(given('data')) ?? DEFAULT_DATA,
    store: postgresSettings(given),
    workflows: list(given('workflows')),
    conformance: isOn(given('conformance')),
    auditRuns: isOn(given('audit-runs')),
    auditAnchor: text(given('audit-anchor')),
    allowEgress: egressPairs(given('allow-egress')),
    dev: isOn(given('dev')),
    strict: isOn(given('strict')),
    logLevel: oneOf(given('log-level'), ['debug', 'info', 'warn', 'error'] as const) ?? 'info',
    logFormat: oneOf(given('log-format'), ['json', 'text'] as const),
    accessLog: isOn(given('access-log')),
    publicUrl: publicUrl(given('public-url')),
    trustedProxies: addressRanges(given('trusted-proxies')),
    allowedHosts: hostNames(given('allowed-hosts')),
    rateLimit: wholeNumber(given('rate-limit'), 1_000_000),
    limits: Object.fromEntries(limits),
    acceptDataLoss: sources.flags('accept-data-loss').length > 0,
    telemetry: telemetrySettings((name) => text(given(name)), sources.env),
  };
}

export function envName(setting: string): string {
  return `WEFT_${setting.toUpperCase().replaceAll('-', '_')}`;
}

function findGiven(sources: SettingSources, name: string): Given | undefined {
  const flags = sources.flags(name);
  if (flags.length > 0) return { values: flags, from: `--${name}`, error: usageError };
  const env = sources.env[envName(name)];
  if (env !== undefined && env !== '') return { values: [env], from: envName(name), error: usageError };
  const config = sources.config;
  if (config === undefined || !isJsonObject(config.value)) return undefined;
  const value = Object.hasOwn(config.value, name) ? config.value[name] : undefined;
  if (value === undefined) return undefined;
  const from = `"${name}" in ${config.file}`;
  const error = (message: string): CliError => unusable('bad_config', message);
  return { values: configValues(value, from), from, error };
}

function configValues(value: Json, from: string): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  if (values.some((item) => item === null || typeof item === 'object')) {
    throw unusable('bad_config', `${from} must be text, a number, true, false or a list of texts.`);
  }
  return values.map(String);
}

function checkConfigNames(config: SettingSources['config']): void {
  if (config === undefined) return;
  if (!isJsonObject(config.value)) throw unusable('bad_config', `${config.file} must hold a JSON object.`);
  for (const name of Object.keys(config.value)) {
    if (Object.hasOwn(SETTINGS, name)) continue;
    const near = closestName(name, Object.keys(SETTINGS));
    const hint =
      near === undefined ? 'The names are those of the flags: weft serve --help' : `Did you mean "${near}"?`;
    throw unusable('bad_config', `${config.file} has an unknown setting "${name}". ${hint}`);
  }
}

function text(given: Given | undefined): string | undefined {
  const value = given?.values.at(-1);
  if (given !== undefined && value === '') throw given.error(`${given.from} must not be empty.`);
  return value;
}

function list(given: Given | undefined): readonly string[] {
  const parts = (given?.values ?? []).flatMap((value) => value.split(','));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function isOn(given: Given | undefined): boolean {
  const value = given?.values.at(-1);
  if (given === undefined || value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw given.error(`${given.from} must be true or false, not "${value}".`);
}

function wholeNumber(given: Given | undefined, max: number): number | undefined {
  const value = given?.values.at(-1);
  if (given === undefined || value === undefined) return undefined;
  if (!/^\d{1,16}$/.test(value) || Number(value) > max) {
    throw given.error(`${given.from} must be a whole number from 0 to ${max}, not "${value}".`);
  }
  return Number(value);
}

function oneOf<Name extends string>(given: Given | undefined, names: readonly Name[]): Name | undefined {
  const value = given?.values.at(-1);
  if (given === undefined || value === undefined) return undefined;
  const name = names.find((known) => known === value);
  if (name === undefined)
    throw given.error(`${given.from} must be one of ${names.join(', ')}, not "${value}".`);
  return name;
}

const FEWEST_CONNECTIONS = 2;
const MOST_CONNECTIONS = 1_000;
const LONGEST_STORE_WAIT_MS = 600_000;

/** Nothing of the URL is repeated in a message: it may hold a password. */
function postgresSettings(given: (name: string) => Given | undefined): PostgresSettings | undefined {
  const store = given('store');
  const url = text(store);
  if (store === undefined || url === undefined) return undefined;
  if (!/^postgres(ql)?:\/\/[^/]/.test(url)) {
    throw store.error(
      `${store.from} takes a URL such as postgres://user@host:5432/database. Without it, runs are kept in the data folder (--data).`,
    );
  }
  const connections = wholeNumber(given('store-connections'), MOST_CONNECTIONS) ?? 10;
  if (connections < FEWEST_CONNECTIONS)
    throw store.error(`--store-connections must be at least ${FEWEST_CONNECTIONS}.`);
  return {
    url,
    schema: text(given('store-schema')) ?? 'weft',
    connections,
    waitMs: wholeNumber(given('store-wait-ms'), LONGEST_STORE_WAIT_MS) ?? 30_000,
  };
}

function egressPairs(given: Given | undefined): readonly string[] {
  const pairs = list(given);
  for (const pair of pairs) {
    if (/^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(pair)) continue;
    throw (
      given?.error(`${given.from} takes HOST:PORT pairs such as 127.0.0.1:7878, not "${pair}".`) ??
      new Error(pair)
    );
  }
  return pairs;
}

function hostNames(given: Given | undefined): readonly string[] {
  const hosts = list(given);
  for (const host of hosts) {
    if (/^(https?:\/\/)?([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(host)) continue;
    throw (
      given?.error(
        `${given.from} takes hosts such as weft.example.org or https://weft.example.org:8443, not "${host}".`,
      ) ?? new Error(host)
    );
  }
  return hosts;
}

function publicUrl(given: Given | undefined): string | undefined {
  const value = text(given);
  if (given === undefined || value === undefined) return undefined;
  const isWeb = URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);
  if (!isWeb) throw given.error(`${given.from} must be an http or https URL, not "${value}".`);
  return value;
}

/** Whole ranges such as 0.0.0.0/0 are refused: then any client could say where it comes from. */
function addressRanges(given: Given | undefined): readonly string[] {
  const ranges = list(given);
  for (const range of ranges) {
    const [address = '', bits, ...more] = range.split('/');
    const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
    const isBits =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= width);
    if (width > 0 && isBits && more.length === 0) continue;
    throw (
      given?.error(`${given.from} takes addresses or ranges such as 10.0.0.0/8, not "${range}".`) ??
      new Error(range)
    );
  }
  return ranges;
}

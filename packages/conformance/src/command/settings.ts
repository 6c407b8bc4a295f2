import { extname } from 'node:path';
import { CHECKS } from '../areas/checks.ts';
import { REQUIREMENTS } from '../areas/requirements.ts';
import type { RequirementTable } from '../requirements/requirement.ts';
import { isProfileId, PROFILES, type ProfileId } from '../requirements/profiles.ts';
import type { Check } from '../suite/check.ts';
import { REQUEST_TIMEOUT_MS } from '../suite/host-client.ts';
import type { FlagName } from './flags.ts';

/** What was asked for cannot be done: a flag is wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export type FlagValues = Readonly<Partial<Record<FlagName, string | boolean>>> & {
  readonly reports: readonly string[];
};

export type ReportFormat = 'json' | 'xml' | 'html';

export interface Settings {
  readonly url: string | undefined;
  readonly launch: string | undefined;
  readonly checks: readonly Check[];
  readonly profile: ProfileId | undefined;
  readonly isStrict: boolean;
  readonly isOffline: boolean;
  readonly explain: string | undefined;
  readonly reports: readonly { readonly file: string; readonly format: ReportFormat }[];
  readonly webhookPort: number | undefined;
  readonly otlpPort: number | undefined;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
}

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 16;
const MAX_TIMEOUT_SECONDS = 600;

export function settingsFrom(flags: FlagValues, env: Readonly<Record<string, string | undefined>>): Settings {
  const text = (name: FlagName): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isOffline = flags.offline === true;
  const launch = text('launch');
  const url =
    text('url') ?? (launch === undefined ? (env['WEFT_URL'] ?? env['OPENWOP_BASE_URL']) : undefined);
  if (!isOffline && url === undefined && launch === undefined)
    throw new UsageError('Which host? Give --url URL, or --launch COMMAND, or --offline.');
  if (url !== undefined) checkUrl(url);
  const profile = profileFrom(text('profile'));
  const explain = text('explain');
  return {
    url,
    launch,
    profile,
    explain,
    checks: selected({ only: text('only'), explain, profile, isOffline }),
    isStrict: flags.strict === true,
    isOffline,
    reports: flags.reports.map((file) => ({ file, format: formatOf(file) })),
    webhookPort: portFrom('webhook-port', text('webhook-port')),
    otlpPort: portFrom('otlp-port', text('otlp-port')),
    concurrency: wholeNumber('concurrency', text('concurrency'), MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY,
    requestTimeoutMs: timeoutFrom(text('timeout')),
  };
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')
    throw new UsageError(
      `--url must be an http or https address, such as http://127.0.0.1:7878; it is "${url}".`,
    );
}

function profileFrom(name: string | undefined): ProfileId | undefined {
  if (name === undefined || isProfileId(name)) return name;
  throw new UsageError(`--profile "${name}" is unknown. There are: ${Object.keys(PROFILES).join(', ')}.`);
}

interface Selection {
  readonly only: string | undefined;
  readonly explain: string | undefined;
  readonly profile: ProfileId | undefined;
  readonly isOffline: boolean;
}

function selected({ only, explain, profile, isOffline }: Selection): readonly Check[] {
  const rows: RequirementTable = REQUIREMENTS;
  const wanted = explain ?? only;
  const pattern = wanted === undefined ? undefined : patternOf(wanted, explain !== undefined);
  const checks = CHECKS.filter(
    ({ id, proves, isOffline: isServerFree }) =>
      (!isOffline || isServerFree === true) &&
      (pattern === undefined || [id, ...proves].some((name) => pattern.test(name))) &&
      (profile === undefined || proves.some((row) => rows[row]?.profiles?.includes(profile) === true)),
  );
  if (explain !== undefined && Object.hasOwn(REQUIREMENTS, explain)) return checks;
  if (checks.length === 0 && wanted !== undefined)
    throw new UsageError(
      `--${explain === undefined ? 'only' : 'explain'} "${wanted}" fits no check and no requirement${isOffline ? ' that needs no host' : ''}. ` +
        'Ids look like streams/resume and DIFF-3.',
    );
  return checks;
}

/** `*` stands for any text. A pattern without one fits wherever it occurs. */
function patternOf(wanted: string, isExact: boolean): RegExp {
  const source = wanted.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(isExact || wanted.includes('*') ? `^${source}$` : source, 'i');
}

function formatOf(file: string): ReportFormat {
  const ending = extname(file).slice(1);
  if (ending === 'json' || ending === 'xml' || ending === 'html') return ending;
  throw new UsageError(`--report ${file}: the file's ending says what to write: .json, .xml or .html.`);
}

function timeoutFrom(text: string | undefined): number {
  const seconds = wholeNumber('timeout', text, MAX_TIMEOUT_SECONDS);
  return seconds === undefined ? REQUEST_TIMEOUT_MS : seconds * 1_000;
}

function portFrom(flag: FlagName, text: string | undefined): number | undefined {
  return wholeNumber(flag, text, 65_535);
}

function wholeNumber(flag: FlagName, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new UsageError(`--${flag} must be a whole number from 1 to ${max}; it is "${text}".`);
}

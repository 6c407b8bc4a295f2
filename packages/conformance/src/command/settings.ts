import { extname, resolve } from 'node:path';
import { CHECKS } from '../areas/checks.ts';
import { REQUIREMENTS } from '../areas/requirements.ts';
import type { RequirementTable } from '../requirements/requirement.ts';
import { isProfileId, PROFILES, type ProfileId } from '../requirements/profiles.ts';
import { type Check, POLICY_MODES, type PolicyProviders } from '../suite/check.ts';
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
  readonly mcpPort: number | undefined;
  readonly a2aPort: number | undefined;
  readonly policies: PolicyProviders;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
}

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 16;
const MAX_TIMEOUT_SECONDS = 600;
const MAX_SUGGESTIONS = 5;

export function settingsFrom(flags: FlagValues, env: Readonly<Record<string, string | undefined>>): Settings {
  const text = (name: FlagName): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isOffline = flags.offline === true;
  const isStrict = flags.strict === true;
  if (isStrict && isOffline)
    throw new UsageError('--strict looks at what a host claims. Leave out --offline, or --strict.');
  const launch = text('launch');
  const url =
    text('url') ?? (launch === undefined ? (env['WEFT_URL'] ?? env['OPENWOP_BASE_URL']) : undefined);
  const profile = profileFrom(text('profile'));
  const explain = explainedId(text('explain'), text('only'));
  const checks =
    explain === undefined
      ? selected({ only: text('only'), profile, isOffline })
      : explaining(explain, isOffline);
  // What no check looks at can be explained without a host.
  if (!isOffline && checks.length > 0 && url === undefined && launch === undefined)
    throw new UsageError('Which host? Give --url URL, or --launch COMMAND, or --offline.');
  if (url !== undefined) checkUrl(url);
  return {
    url,
    launch,
    profile,
    explain,
    checks,
    isStrict,
    isOffline: isOffline || checks.length === 0,
    reports: reportsFrom(flags.reports),
    webhookPort: portFrom('webhook-port', text('webhook-port')),
    otlpPort: portFrom('otlp-port', text('otlp-port')),
    mcpPort: portFrom('mcp-port', text('mcp-port')),
    a2aPort: portFrom('a2a-port', text('a2a-port')),
    policies: policiesFrom(text('policy-providers')),
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
  readonly profile: ProfileId | undefined;
  readonly isOffline: boolean;
}

function selected({ only, profile, isOffline }: Selection): readonly Check[] {
  const rows: RequirementTable = REQUIREMENTS;
  const pattern = only === undefined ? undefined : patternOf(only);
  const checks = CHECKS.filter(
    ({ id, proves, isOffline: isServerFree }) =>
      (!isOffline || isServerFree === true) &&
      (pattern === undefined || [id, ...proves].some((name) => pattern.test(name))) &&
      (profile === undefined || proves.some((row) => rows[row]?.profiles?.includes(profile) === true)),
  );
  if (checks.length > 0) return checks;
  const wanted = [
    ...(only === undefined ? [] : [`--only "${only}"`]),
    ...(profile === undefined ? [] : [`--profile ${profile}`]),
    ...(isOffline ? ['--offline'] : []),
  ];
  throw new UsageError(
    `No check fits ${wanted.join(' with ')}. Ids look like streams/default-mode and DIFF-3; * stands for any text.`,
  );
}

/** The requirement or check that is meant, however its letters are written. */
function explainedId(wanted: string | undefined, only: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  if (only !== undefined)
    throw new UsageError('--explain is about one requirement or check. Leave out --only.');
  const ids = [...Object.keys(REQUIREMENTS), ...CHECKS.map(({ id }) => id)];
  const found = ids.find((id) => id.toLowerCase() === wanted.toLowerCase());
  if (found !== undefined) return found;
  const near = wanted === '' ? [] : ids.filter((id) => patternOf(wanted).test(id)).slice(0, MAX_SUGGESTIONS);
  throw new UsageError(
    `--explain "${wanted}" is no requirement and no check. ` +
      (near.length > 0
        ? `Is it one of ${near.join(', ')}?`
        : 'Ids look like streams/default-mode and DIFF-3.'),
  );
}

function explaining(wanted: string, isOffline: boolean): readonly Check[] {
  const own = CHECKS.filter(({ id, proves }) => id === wanted || proves.some((row) => row === wanted));
  const able = own.filter((check) => !isOffline || check.isOffline === true);
  if (own.length > 0 && able.length === 0)
    throw new UsageError(`${wanted} is checked on a host. Give --url or --launch in place of --offline.`);
  return able;
}

/** `*` stands for any text. A pattern without one fits wherever it occurs. */
function patternOf(wanted: string): RegExp {
  if (wanted === '') throw new UsageError('--only is empty. Leave it out for all checks.');
  const source = wanted.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\*+/g, '.*');
  return new RegExp(wanted.includes('*') ? `^${source}$` : source, 'i');
}

function reportsFrom(files: readonly string[]): Settings['reports'] {
  const twice = files.find((file, at) =>
    files.slice(0, at).some((other) => resolve(other) === resolve(file)),
  );
  if (twice !== undefined)
    throw new UsageError(`--report ${twice} is given twice. Give each report a file of its own.`);
  return files.map((file) => ({ file, format: formatOf(file) }));
}

function formatOf(file: string): ReportFormat {
  const ending = extname(file).slice(1).toLowerCase();
  if (ending === 'json' || ending === 'xml' || ending === 'html') return ending;
  throw new UsageError(`--report ${file}: the file's ending says what to write: .json, .xml or .html.`);
}

function timeoutFrom(text: string | undefined): number {
  const seconds = wholeNumber('timeout', text, MAX_TIMEOUT_SECONDS);
  return seconds === undefined ? REQUEST_TIMEOUT_MS : seconds * 1_000;
}

function policiesFrom(text: string | undefined): PolicyProviders {
  if (text === undefined) return {};
  const pairs = text.split(',').map((pair) => {
    const [mode = '', provider = ''] = pair.split('=');
    if (POLICY_MODES.some((known) => known === mode) && provider !== '') return [mode, provider];
    throw new UsageError(
      `--policy-providers takes MODE=PROVIDER, separated by commas; the modes are ${POLICY_MODES.join(', ')}. Correct "${pair}".`,
    );
  });
  return Object.fromEntries(pairs) as PolicyProviders;
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

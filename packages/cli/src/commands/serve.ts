import { resolve } from 'node:path';
import type { ArgsDef } from 'citty';
import { DEFAULT_LIMITS } from '@weft/engine/limits';
import { type Cli, leaf } from '../parsing/command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { readJsonFile } from '../parsing/key-values.ts';
import { type Started, renderBanner } from '../serve/banner.ts';
import { LIMIT_FLAGS } from '../serve/limit-flags.ts';
import { createLog } from '../serve/log.ts';
import type { RunningHost } from '../serve/run-host.ts';
import { TELEMETRY_ARGS } from '../serve/telemetry-flags.ts';
import { SETTINGS, type ServeSettings, resolveSettings } from '../serve/settings.ts';

const LIMIT_ARGS: ArgsDef = Object.fromEntries(
  LIMIT_FLAGS.map(({ flag, limit, description }) => [
    flag,
    { type: 'string', valueHint: 'N', description: `${description} (default ${DEFAULT_LIMITS[limit]})` },
  ]),
);

const SERVE_ARGS = {
  port: { type: 'string', valueHint: 'N', description: 'Port; 0 takes a free one (default 7878)' },
  host: {
    type: 'string',
    valueHint: 'ADDRESS',
    description: 'Address to bind (default 127.0.0.1); others need WEFT_API_KEY',
  },
  data: { type: 'string', valueHint: 'DIR', description: 'Data folder (default .weft)' },
  store: {
    type: 'string',
    valueHint: 'URL',
    description:
      'postgres://… to share with other processes; better given as WEFT_STORE (default: SQLite in --data)',
  },
  'store-schema': { type: 'string', valueHint: 'NAME', description: 'Schema of the database (default weft)' },
  'store-connections': {
    type: 'string',
    valueHint: 'N',
    description: 'Connections to the database; one more listens (default 10)',
  },
  'store-wait-ms': {
    type: 'string',
    valueHint: 'N',
    description: 'How long to wait at the start for a database that is away (default 30000)',
  },
  workflows: {
    type: 'string',
    valueHint: 'DIR[,…]',
    description: 'Load every *.json in these folders; may be repeated',
  },
  'allow-egress': {
    type: 'string',
    valueHint: 'HOST:PORT[,…]',
    description: 'Let nodes call these although they are not public; may be repeated',
  },
  conformance: {
    type: 'boolean',
    description: 'Mark the data as a test host’s (permanent): test keys, node types and workflows for suites',
  },
  'audit-runs': { type: 'boolean', description: 'Keep in the audit log who created each run' },
  'audit-anchor': {
    type: 'string',
    valueHint: 'FILE',
    description: 'Keep the last seal of the audit log there, and do not start on a log that lacks it',
  },
  dev: { type: 'boolean', description: 'Register a changed file without a new version as VERSION+HASH' },
  strict: { type: 'boolean', description: 'Treat warnings about definitions as errors' },
  'public-url': {
    type: 'string',
    valueHint: 'URL',
    description: 'Base of the URLs in answers, behind a proxy (default: the address that was reached)',
  },
  'allowed-hosts': {
    type: 'string',
    valueHint: 'HOST[:PORT][,…]',
    description: 'Host headers that may stand in URLs of answers; https:// before one behind TLS',
  },
  'trusted-proxies': {
    type: 'string',
    valueHint: 'ADDRESS[/BITS][,…]',
    description: 'Believe X-Forwarded-For of these proxies; may be repeated',
  },
  'log-level': {
    type: 'enum',
    options: ['debug', 'info', 'warn', 'error'],
    description: 'What to log (default info)',
  },
  'log-format': {
    type: 'enum',
    options: ['json', 'text'],
    description: 'JSON lines, or lines for people (default on a terminal)',
  },
  'access-log': { type: 'boolean', description: 'One log line per request' },
  config: {
    type: 'string',
    valueHint: 'FILE',
    description: 'JSON file with the same names; flags win over WEFT_* win over it',
  },
  'accept-data-loss': {
    type: 'boolean',
    description: 'Start although acknowledged writes are missing, and go on without them; this start only',
  },
  'rate-limit': {
    type: 'string',
    valueHint: 'N',
    description: 'Requests per second and key; 0 = off (default off on loopback, else 200)',
  },
} as const satisfies ArgsDef;

export const serve = leaf({
  name: 'serve',
  summary: 'Start a host',
  examples: [
    'weft serve --workflows examples/workflows --allow-egress 127.0.0.1:7878',
    'weft serve --port 0 --data /tmp/weft-demo --log-format json',
    'WEFT_API_KEY=… weft serve --host 0.0.0.0 --public-url https://weft.example.org --trusted-proxies 10.0.0.0/8',
    'weft serve --config weft.json --max-node-executions 5000',
    'WEFT_STORE=postgres://weft@db/weft weft serve',
  ],
  args: { ...SERVE_ARGS, ...TELEMETRY_ARGS, ...LIMIT_ARGS },
  async run({ cli, args, all }) {
    const given = args as Readonly<Record<string, unknown>>;
    const settings = resolveSettings({
      flags: (name) =>
        SETTINGS[name] === 'switch' || name === 'accept-data-loss'
          ? given[name] === true
            ? ['true']
            : []
          : all(name as 'port'),
      env: cli.io.env,
      config: await readConfig(cli, args.config ?? cli.io.env['WEFT_CONFIG']),
    });
    // Loaded here, so that every other command starts without a host's worth of modules.
    const { runHost } = await import('../serve/run-host.ts');
    const starting = runHost(cli.io, settings, logFor(cli, settings));
    // From here on: a host answers that it is ready a moment before it is known here that it runs.
    const stop = onceTold(cli, starting);
    stop.ended.catch(() => undefined);
    const running = await starting;
    if (!stop.isAsked()) announce(cli, settings, running);
    return stop.ended;
  },
});

async function readConfig(
  cli: Cli,
  path: string | undefined,
): Promise<{ file: string; value: Awaited<ReturnType<typeof readJsonFile>> } | undefined> {
  if (path === undefined || path === '') return undefined;
  return { file: path, value: await readJsonFile(resolve(cli.io.cwd, path)) };
}

function logFor(cli: Cli, settings: ServeSettings): ReturnType<typeof createLog> {
  const format = settings.logFormat ?? (cli.io.isTTY ? 'text' : 'json');
  return createLog(cli.io.stderr, { level: settings.logLevel, format, style: cli.style });
}

function announce(cli: Cli, settings: ServeSettings, running: RunningHost): void {
  const started: Started = {
    url: running.url,
    ...(running.folder !== undefined && { dataFolder: running.folder.root }),
    ...(running.store !== undefined && { store: running.store }),
    keyFrom: running.keyFrom,
    test: settings.conformance,
    allowEgress: settings.allowEgress,
    files: running.files,
    ...(running.fixtures !== undefined && { fixtures: running.fixtures }),
    command: cli.io.env['npm_command'] === undefined ? 'weft' : 'npx weft',
  };
  cli.io.stdout.write(`${cli.json ? JSON.stringify(started) : renderBanner(cli.style, started)}\n`);
}

/** The first signal ends the host in order, the second one at once: what is durable is durable either way. */
function onceTold(
  cli: Cli,
  starting: Promise<RunningHost>,
): { isAsked(): boolean; ended: Promise<ExitCode> } {
  let isStopping = false;
  const ended = new Promise<ExitCode>((done, failed) => {
    const off = cli.io.onSignal((signal) => {
      if (isStopping) {
        cli.io.exit(EXIT.failed);
        return;
      }
      isStopping = true;
      cli.io.stderr.write(`${signal}: stopping …\n`);
      // A host may wait for its store for long, and has nothing yet that could be ended in order.
      const impatience = setTimeout(() => cli.io.exit(EXIT.failed), START_PATIENCE_MS);
      starting
        .finally(() => clearTimeout(impatience))
        .then((running) => running.stop())
        .then(() => done(EXIT.done), failed)
        .finally(off);
    });
    starting.catch(off);
  });
  return { isAsked: () => isStopping, ended };
}

const START_PATIENCE_MS = 2_000;

import { type Cli, leaf } from '../parsing/command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { visibleText } from '../output/terminal-text.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { type Started, renderBanner } from '../serve/banner.ts';
import { createLog } from '../serve/log.ts';
import type { RunningHost } from '../serve/run-host.ts';
import { SERVE_ARGS, SERVE_MOVED, SERVE_SECTIONS } from '../serve/settings/setting-args.ts';
import { type ServeSettings, readSettings } from '../serve/settings/settings.ts';

export const serve = leaf({
  name: 'serve',
  summary: 'Start a host',
  examples: [
    'weft serve --workflows examples/workflows --allow-egress 127.0.0.1:7878',
    'weft serve --dev --nodes ./nodes --workflows ./workflows',
    'weft serve --port 0 --data /tmp/weft-demo --log-format json',
    'WEFT_API_KEY=… weft serve --host 0.0.0.0 --public-url https://weft.example.org',
    'weft serve --config weft.json --max-node-executions 5000',
    'WEFT_STORE=postgres://weft@db/weft weft serve',
  ],
  args: SERVE_ARGS,
  sections: SERVE_SECTIONS,
  footnote:
    'Other limits and timeouts are set in the config file or as WEFT_* variables: docs/reference/settings.md lists them.',
  moved: SERVE_MOVED,
  async run({ cli, all }) {
    const settings = await readSettings(cli.io, all);
    // Loaded here, so that every other command starts without a host's worth of modules.
    const { runHost } = await import('../serve/run-host.ts');
    const starting = runHost(cli.io, settings, logFor(cli, settings));
    // From here on: a host answers that it is ready a moment before it is known here that it runs.
    const stop = onceSignalled(cli, starting);
    stop.ended.catch(() => undefined);
    try {
      const running = await starting;
      if (!stop.isAsked()) announce(cli, settings, running);
    } catch (error) {
      if (!stop.isAsked()) throw error;
      // It was to end and has ended: whatever kept it from starting, such as a store that is away, is no failure any more.
      cli.io.stderr.write(`not started: ${visibleText(reasonOf(error))}\n`);
      return EXIT.done;
    }
    return stop.ended;
  },
});

function logFor(cli: Cli, settings: ServeSettings): ReturnType<typeof createLog> {
  const format = settings.logFormat ?? (cli.io.isTTY ? 'text' : 'json');
  return createLog(cli.io.stderr, { level: settings.logLevel, format, style: cli.style });
}

function announce(cli: Cli, settings: ServeSettings, running: RunningHost): void {
  const started: Started = {
    url: running.url,
    pid: process.pid,
    ...(running.grpcEndpoint !== undefined && { grpc: running.grpcEndpoint }),
    ...(running.folder !== undefined && { dataFolder: running.folder.root }),
    ...(running.store !== undefined && { store: running.store }),
    keyFrom: running.keyFrom,
    ...(running.studio !== undefined && { studio: running.studio }),
    test: settings.conformance,
    allowEgress: settings.allowEgress,
    files: running.files,
    nodes: running.nodes,
    registered: running.registered,
    ...(running.fixtures !== undefined && { fixtures: running.fixtures }),
  };
  cli.io.stdout.write(`${cli.json ? JSON.stringify(started) : renderBanner(cli.style, started)}\n`);
}

/** The first signal ends the host in order, the second one at once: what is durable is durable either way. */
function onceSignalled(
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
      const impatience = setTimeout(() => {
        cli.io.stderr.write('not started: its store did not answer in time\n');
        cli.io.exit(EXIT.done);
      }, START_PATIENCE_MS);
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

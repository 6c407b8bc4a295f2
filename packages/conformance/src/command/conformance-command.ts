import { resolve } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { startA2aPeer } from '../peers/a2a-peer.ts';
import { startMcpServer } from '../peers/mcp-server.ts';
import { startOtlpCollector } from '../peers/otlp-collector.ts';
import { PeerNotStarted } from '../peers/loopback-server.ts';
import type { Peers } from '../peers/peers.ts';
import { startWebhookReceiver } from '../peers/webhook-receiver.ts';
import { renderJson } from '../report/json-report.ts';
import { reportOf, SUITE_EXIT, type SuiteExit, type SuiteReport } from '../report/suite-report.ts';
import { renderExplanation, renderText } from '../report/text-report.ts';
import type { Check, OtherKeys, PolicyProviders } from '../suite/check.ts';
import { findHost, NoHost } from '../suite/find-host.ts';
import { type CommandLauncher, createLauncher, LaunchFailed } from '../suite/launch-command.ts';
import type { Launcher } from '../suite/launcher.ts';
import { runSuite } from '../suite/run-suite.ts';
import type { FlagName } from './flags.ts';
import { expectWritable, writeReports } from './report-files.ts';
import { type Progress, showProgress } from './progress.ts';
import { type FlagValues, type Settings, settingsFrom, UsageError } from './settings.ts';

/** What the command touches outside itself and the host. */
export interface ConformanceIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isTTY: boolean;
  /** Calls back on SIGINT and SIGTERM until the returned function is called. */
  onSignal(listener: () => void): () => void;
  /** The text of a file that only its owner may read. */
  readKeyFile(path: string): Promise<string>;
}

/** Runs the suite as the flags say. Exit codes: 0 proven, 1 failed, 2 usage, 3 no host, 4 strict not met. */
export async function conformance(flags: FlagValues, io: ConformanceIo, asJson: boolean): Promise<SuiteExit> {
  try {
    const settings = settingsFrom(flags, io.env);
    // A suite runs for minutes: better to say before it than after it that its report has no place.
    await expectWritable(settings.reports, io.cwd);
    const report = await findOut(settings, flags, io);
    io.stdout.write(shownReport(report, settings, asJson));
    await writeReports(settings.reports, io.cwd, report);
    return report.exit;
  } catch (error) {
    if (error instanceof UsageError || error instanceof PeerNotStarted)
      return refuse(io, asJson, 'usage', error, SUITE_EXIT.usage);
    if (error instanceof NoHost || error instanceof LaunchFailed)
      return refuse(io, asJson, 'no_host', error, SUITE_EXIT.noHost);
    if (error instanceof Interrupted) return refuse(io, asJson, 'interrupted', error, SUITE_EXIT.noHost);
    throw error;
  }
}

/** The person who started the suite does not want to wait for its end. */
class Interrupted extends Error {
  constructor() {
    super('Interrupted: the suite did not run to its end. What it had started has been stopped.');
    this.name = 'Interrupted';
  }
}

function shownReport(report: SuiteReport, { explain }: Settings, asJson: boolean): string {
  if (asJson) return renderJson(report);
  return explain === undefined ? renderText(report) : renderExplanation(report, explain);
}

function refuse(
  { stderr }: ConformanceIo,
  asJson: boolean,
  code: string,
  error: Error,
  exit: SuiteExit,
): SuiteExit {
  stderr.write(
    asJson ? `${JSON.stringify({ error: code, message: error.message })}\n` : `${error.message}\n`,
  );
  return exit;
}

async function findOut(settings: Settings, flags: FlagValues, io: ConformanceIo): Promise<SuiteReport> {
  const interruption = new AbortController();
  // Listens once, so that a second Ctrl-C ends the process as it does anywhere.
  const off = io.onSignal(() => {
    off();
    interruption.abort();
  });
  try {
    const report = await findOutUntil(interruption.signal, settings, flags, io);
    if (interruption.signal.aborted) throw new Interrupted();
    return report;
  } catch (error) {
    throw interruption.signal.aborted ? new Interrupted() : error;
  } finally {
    off();
  }
}

async function findOutUntil(
  signal: AbortSignal,
  settings: Settings,
  flags: FlagValues,
  io: ConformanceIo,
): Promise<SuiteReport> {
  if (settings.isOffline) return examine(settings, io, { ...OFFLINE, signal });
  const { launch, requestTimeoutMs: timeoutMs } = settings;
  const ends: (() => Promise<void>)[] = [];
  const open = async (command: string): Promise<CommandLauncher> => {
    const launcher = await createLauncher(command, signal);
    ends.push(() => launcher.stop());
    return launcher;
  };
  try {
    const peers = await startPeers(settings, io, ends);
    const target = await targetOf(settings, flags, io, open);
    const discovery = await findHost(target.url, target.key, { timeoutMs, signal });
    const keys = await otherKeys(flags, io);
    // Processes that checks kill have data of their own: not that of the host which the other checks look at.
    const launcher = launch === undefined ? undefined : await open(launch);
    const { policies } = settings;
    return await examine(settings, io, { ...target, discovery, keys, peers, policies, launcher, signal });
  } finally {
    await Promise.all(ends.map((end) => end()));
  }
}

interface Target {
  readonly url: string;
  readonly key: string | undefined;
}

interface Surroundings extends Target {
  readonly discovery: JsonObject;
  readonly keys: OtherKeys;
  readonly peers: Peers;
  readonly policies: PolicyProviders;
  readonly launcher: Launcher | undefined;
  readonly signal: AbortSignal;
}

const OFFLINE: Omit<Surroundings, 'signal'> = {
  url: '',
  key: undefined,
  discovery: {},
  keys: {},
  peers: {},
  policies: {},
  launcher: undefined,
};

async function examine(settings: Settings, io: ConformanceIo, around: Surroundings): Promise<SuiteReport> {
  const { checks, isOffline, isStrict, profile, concurrency, requestTimeoutMs } = settings;
  const progress: Progress = showProgress(io, checks.length);
  const startedAt = new Date();
  const begun = performance.now();
  const { results, isHostGone } = await runSuite({
    ...around,
    checks,
    concurrency,
    requestTimeoutMs,
    onStart: (check: Check) => progress.begin(check.id),
    onResult: (result) => progress.end(result),
  });
  progress.done();
  return reportOf({
    url: isOffline ? undefined : around.url,
    discovery: isOffline ? undefined : around.discovery,
    startedAt,
    ms: performance.now() - begun,
    checks: results,
    isStrict,
    profile,
    isHostGone,
  });
}

async function targetOf(
  { url, launch }: Settings,
  flags: FlagValues,
  io: ConformanceIo,
  open: (command: string) => Promise<CommandLauncher>,
): Promise<Target> {
  if (url !== undefined)
    return {
      url,
      key: (await keyFrom(flags, 'key-file', io)) ?? io.env['WEFT_API_KEY'] ?? io.env['OPENWOP_API_KEY'],
    };
  if (launch === undefined) throw new UsageError('Which host? Give --url URL, or --launch COMMAND.');
  return (await open(launch)).startFirst();
}

async function otherKeys(flags: FlagValues, io: ConformanceIo): Promise<OtherKeys> {
  const lowScope = await keyFrom(flags, 'low-scope-key-file', io);
  const otherTenant = await keyFrom(flags, 'other-tenant-key-file', io);
  const otherWorkspace = await keyFrom(flags, 'other-workspace-key-file', io);
  return {
    ...(lowScope === undefined ? {} : { lowScope }),
    ...(otherTenant === undefined ? {} : { otherTenant }),
    ...(otherWorkspace === undefined ? {} : { otherWorkspace }),
  };
}

async function keyFrom(flags: FlagValues, name: FlagName, io: ConformanceIo): Promise<string | undefined> {
  const path = flags[name];
  return typeof path === 'string' ? io.readKeyFile(resolve(io.cwd, path)) : undefined;
}

/** Each peer that runs is named, with what the host needs to know about it. */
async function startPeers(
  { webhookPort, otlpPort, mcpPort, a2aPort }: Settings,
  io: ConformanceIo,
  ends: (() => Promise<void>)[],
): Promise<Peers> {
  const webhook = webhookPort === undefined ? undefined : await startWebhookReceiver(webhookPort);
  if (webhook !== undefined) {
    ends.push(() => webhook.stop());
    io.stderr.write(
      `The host must be allowed to send webhooks to ${webhook.address} (Weft: --allow-egress).\n`,
    );
  }
  const otlp = otlpPort === undefined ? undefined : await startOtlpCollector(otlpPort);
  if (otlp !== undefined) {
    ends.push(() => otlp.stop());
    io.stderr.write(`The host must send its traces to ${otlp.address} (Weft: --otlp-endpoint).\n`);
  }
  const mcp = mcpPort === undefined ? undefined : await startMcpServer(mcpPort);
  if (mcp !== undefined) {
    ends.push(() => mcp.stop());
    io.stderr.write(
      `The host must have http://${mcp.address} as its default MCP server, without approvals (Weft: "mcpServers" of the config file).\n`,
    );
  }
  const a2a = a2aPort === undefined ? undefined : await startA2aPeer(a2aPort);
  if (a2a !== undefined) {
    ends.push(() => a2a.stop());
    io.stderr.write(
      `The host must have http://${a2a.address} as its first peer, with plain endpoints (Weft: OPENWOP_A2A_FAKE_PEER_URL, or "a2a" of the config file).\n`,
    );
  }
  return {
    ...(webhook !== undefined && { webhook }),
    ...(otlp !== undefined && { otlp }),
    ...(mcp !== undefined && { mcp }),
    ...(a2a !== undefined && { a2a }),
  };
}

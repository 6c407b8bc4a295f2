import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Check, CheckContext } from './check.ts';
import type { GrpcClient } from '../grpc/grpc-client.ts';
import { advertised } from '../requirements/gates.ts';
import { createExpectations, ExpectationFailed, type Expectations } from './expectations.ts';
import { createHostClient } from './host-client.ts';
import { HostFault } from './host-fault.ts';
import type { Launcher } from './launcher.ts';
import { NotApplicable } from './not-applicable.ts';
import { obstacleTo, type Offer } from './obstacles.ts';
import type { CheckOutcome, CheckResult } from './outcome.ts';
import { createRunDriver } from './run-driver.ts';
import { createTrace, type Trace } from './trace.ts';

const CHECK_TIMEOUT_MS = 30_000;
const EVENTUALLY_MS = 10_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
/** Said of every check that comes after the host is gone. */
const GONE = 'the host no longer answers';
const STOPPED = 'the suite was interrupted';

export interface SuiteOptions extends Offer {
  readonly url: string;
  readonly key: string | undefined;
  readonly checks: readonly Check[];
  /** How many checks run side by side. */
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  /** Ends the run early; checks that are left are not tested. */
  readonly signal?: AbortSignal;
  onStart?(check: Check): void;
  onResult?(result: CheckResult): void;
}

export interface SuiteRun {
  readonly results: readonly CheckResult[];
  /** The host answered at first and then no longer. */
  readonly isHostGone: boolean;
}

/** Runs checks, those side by side that do not disturb each other. Results come in the order of the checks. */
export async function runSuite(options: SuiteOptions): Promise<SuiteRun> {
  const results = new Map<string, CheckResult>();
  let isGone = false;

  async function take(check: Check): Promise<void> {
    options.onStart?.(check);
    const reason = isGone ? GONE : options.signal?.aborted === true ? STOPPED : undefined;
    const obstacle =
      reason === undefined ? obstacleTo(check, options) : ({ outcome: 'not-tested', reason } as const);
    const result =
      obstacle === undefined
        ? await runCheck(check, options)
        : { ...headOf(check), ...obstacle, ms: 0, steps: [] };
    if (result.outcome === 'failed' && options.signal?.aborted !== true && !(await answers(options)))
      isGone = true;
    results.set(check.id, result);
    options.onResult?.(result);
  }

  const together = options.checks.filter(({ isAlone }) => isAlone !== true);
  const queue = together.values();
  const lane = async (): Promise<void> => {
    for (const check of queue) await take(check);
  };
  await Promise.all(Array.from({ length: options.concurrency }, lane));
  for (const check of options.checks) if (check.isAlone === true) await take(check);

  return {
    results: options.checks.flatMap(({ id }) => results.get(id) ?? []),
    isHostGone: isGone,
  };
}

async function runCheck(check: Check, options: SuiteOptions): Promise<CheckResult> {
  const startedAt = performance.now();
  const { key, keys } = options;
  const trace = createTrace(
    [key, keys.lowScope, keys.otherTenant, keys.otherWorkspace].filter((secret) => secret !== undefined),
  );
  const timeoutMs = check.timeoutMs ?? CHECK_TIMEOUT_MS;
  const { outcome, reason } = await outcomeOf(check, trace, timeoutMs, options);
  return {
    ...headOf(check),
    outcome,
    ...(reason === undefined ? {} : { reason: trace.masks.mask(reason) }),
    ms: performance.now() - startedAt,
    steps: trace.steps,
  };
}

async function outcomeOf(
  check: Check,
  trace: Trace,
  timeoutMs: number,
  options: SuiteOptions,
): Promise<{ outcome: CheckOutcome; reason?: string }> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const stop = (): void => deadline.abort();
  options.signal?.addEventListener('abort', stop);
  try {
    await check.run(contextOf(trace, deadline.signal, options));
    return emptyPass(check, trace) ?? { outcome: 'passed' };
  } catch (error) {
    if (options.signal?.aborted === true) return { outcome: 'not-tested', reason: STOPPED };
    if (deadline.signal.aborted)
      return {
        outcome: 'failed',
        reason: `it was not done after ${timeoutMs / 1_000} s: ${messageOf(error)}`,
      };
    if (error instanceof NotApplicable) return { outcome: 'not-applicable', reason: error.message };
    if (error instanceof ExpectationFailed || error instanceof HostFault)
      return { outcome: 'failed', reason: error.message };
    return { outcome: 'broken', reason: `the check itself failed: ${messageOf(error)}` };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
    deadline.abort();
  }
}

/** A check that looked at nothing proves nothing. */
function emptyPass(check: Check, trace: Trace): { outcome: 'broken'; reason: string } | undefined {
  if (trace.expectations === 0) return { outcome: 'broken', reason: 'the check expected nothing' };
  if (trace.requests === 0 && check.isOffline !== true)
    return { outcome: 'broken', reason: 'the check asked the host nothing' };
  return undefined;
}

function contextOf(trace: Trace, signal: AbortSignal, options: SuiteOptions): CheckContext {
  const { url, key, discovery, peers, keys, policies, launcher } = options;
  const host = createHostClient({ url, key, trace, signal, timeoutMs: options.requestTimeoutMs });
  const expect: Expectations = createExpectations(trace);
  const eventually: CheckContext['eventually'] = async (claim, ask, timeoutMs = EVENTUALLY_MS) => {
    const until = performance.now() + timeoutMs;
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      const found = await ask();
      if (found !== undefined) {
        expect.that(true, claim);
        return found;
      }
      expect.that(performance.now() < until, `${claim} within ${timeoutMs / 1_000} s`);
      await pause(wait, undefined, { signal });
    }
  };
  return {
    discovery,
    host,
    runs: createRunDriver(host, expect, eventually),
    grpc: grpcOf(trace, signal, options),
    expect,
    peers,
    keys,
    policies,
    launcher: launcher === undefined ? undefined : traced(launcher, trace, signal),
    signal,
    notApplicable: (reason) => {
      throw new NotApplicable(reason);
    },
    unique: (prefix = 'weft-conformance') => `${prefix}-${randomUUID()}`,
    eventually,
  };
}

/** Connected at the first question, and loaded then: most hosts have none. */
function grpcOf(trace: Trace, signal: AbortSignal, options: SuiteOptions): CheckContext['grpc'] {
  let client: Promise<GrpcClient> | undefined;
  return () => {
    client ??= connectGrpc(trace, signal, options);
    return client;
  };
}

async function connectGrpc(trace: Trace, signal: AbortSignal, options: SuiteOptions): Promise<GrpcClient> {
  const endpoint = advertised(options.discovery, 'grpc.endpoint');
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
    throw new NotApplicable('discovery has no grpc.endpoint, so the suite does not know where to ask');
  const { createGrpcClient } = await import('../grpc/grpc-client.ts');
  const client = createGrpcClient({ endpoint, key: options.key, trace, timeoutMs: options.requestTimeoutMs });
  signal.addEventListener('abort', () => client.close());
  return client;
}

/** What a check asks of processes that it started stands in its trace too. */
function traced(launcher: Launcher, trace: Trace, signal: AbortSignal): Launcher {
  return {
    async start() {
      const started = await launcher.start();
      if (started === undefined) return undefined;
      const { url, key } = started;
      trace.masks.hide(key);
      return { ...started, client: createHostClient({ url, key, trace, signal }) };
    },
    stop: () => launcher.stop(),
  };
}

async function answers({ url, requestTimeoutMs: timeoutMs }: SuiteOptions): Promise<boolean> {
  const host = createHostClient({ url, key: undefined, trace: createTrace(), timeoutMs });
  try {
    await host.request('GET', '/.well-known/openwop');
    return true;
  } catch (error) {
    return !(error instanceof HostFault && (error.kind === 'unreachable' || error.kind === 'timeout'));
  }
}

function headOf({ id, title, proves }: Check) {
  return { id, title, proves };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

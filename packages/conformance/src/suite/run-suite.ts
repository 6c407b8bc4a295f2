import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import { GATES } from '../requirements/gates.ts';
import { REQUIREMENTS } from '../requirements/index.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { Peers } from '../peers/peers.ts';
import type { Check, CheckContext, OtherKeys } from './check.ts';
import { createExpectations, ExpectationFailed, type Expectations } from './expectations.ts';
import { createHostClient } from './host-client.ts';
import { HostFault } from './host-fault.ts';
import type { Launcher } from './launcher.ts';
import type { CheckOutcome, CheckResult } from './outcome.ts';
import { createRunDriver } from './run-driver.ts';
import { createTrace, type Trace } from './trace.ts';

const CHECK_TIMEOUT_MS = 30_000;
const EVENTUALLY_MS = 10_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
/** Said of every check that comes after the host is gone. */
const GONE = 'the host no longer answers';

export interface SuiteOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly discovery: JsonObject;
  readonly checks: readonly Check[];
  readonly keys: OtherKeys;
  readonly peers: Peers;
  readonly launcher: Launcher | undefined;
  /** How many checks run side by side. */
  readonly concurrency: number;
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
    const obstacle = isGone ? ({ outcome: 'not-tested', reason: GONE } as const) : obstacleTo(check, options);
    const result =
      obstacle === undefined
        ? await runCheck(check, options)
        : { ...headOf(check), ...obstacle, ms: 0, steps: [] };
    if (result.outcome === 'failed' && !(await answers(options.url))) isGone = true;
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

/** Why a check is not run on this host, or not this time. */
function obstacleTo(
  { proves, needs = {}, isOffline }: Check,
  { discovery, keys, peers, launcher }: SuiteOptions,
): { outcome: CheckOutcome; reason: string } | undefined {
  if (isOffline === true) return undefined;
  for (const id of proves) {
    const { gate }: Requirement = REQUIREMENTS[id];
    if (gate !== undefined && !GATES[gate].isOpen(discovery))
      return { outcome: 'not-applicable', reason: `not advertised: ${GATES[gate].says}` };
  }
  const listed = Array.isArray(discovery['fixtures']) ? discovery['fixtures'] : [];
  const missing = needs.fixtures?.filter((name) => !listed.includes(name)) ?? [];
  if (missing.length > 0) return untested(`the host does not list the fixture ${missing.join(', ')}`);
  if (needs.key !== undefined && keys[needs.key] === undefined)
    return untested(`no key was given (--${KEY_FLAGS[needs.key]})`);
  if (needs.peer !== undefined && peers[needs.peer] === undefined)
    return untested(`its peer is not running (--${needs.peer}-port)`);
  if (needs.launch === true && launcher === undefined) return untested('it starts processes (--launch)');
  return undefined;
}

const KEY_FLAGS: Readonly<Record<keyof OtherKeys, string>> = {
  lowScope: 'low-scope-key-file',
  otherTenant: 'other-tenant-key-file',
};

function untested(reason: string): { outcome: CheckOutcome; reason: string } {
  return { outcome: 'not-tested', reason };
}

async function runCheck(check: Check, options: SuiteOptions): Promise<CheckResult> {
  const startedAt = performance.now();
  const trace = createTrace();
  const timeoutMs = check.timeoutMs ?? CHECK_TIMEOUT_MS;
  const ended = await outcomeOf(check, trace, timeoutMs, options);
  return { ...headOf(check), ...ended, ms: performance.now() - startedAt, steps: trace.steps };
}

async function outcomeOf(
  check: Check,
  trace: Trace,
  timeoutMs: number,
  options: SuiteOptions,
): Promise<{ outcome: CheckOutcome; reason?: string }> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    await check.run(contextOf(trace, deadline.signal, options));
    return emptyPass(check, trace) ?? { outcome: 'passed' };
  } catch (error) {
    if (deadline.signal.aborted)
      return {
        outcome: 'failed',
        reason: `it was not done after ${timeoutMs / 1_000} s: ${messageOf(error)}`,
      };
    if (error instanceof ExpectationFailed || error instanceof HostFault)
      return { outcome: 'failed', reason: error.message };
    return { outcome: 'broken', reason: `the check itself failed: ${messageOf(error)}` };
  } finally {
    clearTimeout(timer);
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
  const { url, key, discovery, peers, keys, launcher } = options;
  const host = createHostClient({ url, key, trace, signal });
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
    expect,
    peers,
    keys,
    launcher,
    signal,
    unique: (prefix = 'weft-conformance') => `${prefix}-${randomUUID()}`,
    eventually,
  };
}

async function answers(url: string): Promise<boolean> {
  const host = createHostClient({ url, key: undefined, trace: createTrace() });
  try {
    await host.request('GET', '/.well-known/openwop', { timeoutMs: 5_000 });
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

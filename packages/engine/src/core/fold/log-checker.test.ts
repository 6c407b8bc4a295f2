import { compileValidator, EVENT_CATALOGUE, type Json, type JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkLog, LOG_RULES, type LogCheckOptions, type LogEntry, type LogRuleId } from './log-checker.ts';

const validators = new Map(EVENT_CATALOGUE.map((row) => [row.type, compileValidator(row.payload)]));
const checkPayload = (type: string, payload: Json): string[] =>
  (validators.get(type)?.(payload) ?? []).map((problem) => `${problem.path} ${problem.message}`);

type Fact = Omit<LogEntry, 'sequence' | 'at'>;

/** Numbers facts and gives each its own millisecond. */
function log(...facts: Fact[]): LogEntry[] {
  return facts.map((fact, sequence) => ({ sequence, at: 1000 + sequence, ...fact }));
}

const run = (type: string, payload: JsonObject = {}): Fact => ({ type: `run.${type}`, payload });
const node = (type: string, nodeId: string, payload: JsonObject = {}): Fact => ({
  type: `node.${type}`,
  nodeId,
  payload: { nodeId, ...(type === 'started' && { typeId: 'core.noop' }), ...payload },
});
const breach = (kind: string, limit: number, observed: number): Fact => ({
  type: 'cap.breached',
  payload: { kind, limit, observed },
});
const variable = (nodeId: string): Fact => ({
  type: 'variable.changed',
  nodeId,
  payload: { name: 'v', next: 1, nodeId },
});

const started = run('started', { workflowId: 'w' });
const completed = run('completed');
const error = { code: 'x_failed', message: 'It failed.' };
const failed = run('failed', { error });

const LEGAL: Record<string, { events: LogEntry[]; options?: LogCheckOptions }> = {
  'a run of one node': {
    events: log(started, node('started', 'a'), variable('a'), node('completed', 'a'), completed),
  },
  'a run cancelled while pending': { events: log(run('cancelled')) },
  'a run that failed before it began': { events: log(failed) },
  'a run that has not ended': { events: log(started, node('started', 'a')), options: { terminal: false } },
  'a pending run': { events: [], options: { terminal: false } },
  'a retry': {
    events: log(
      started,
      node('started', 'a', { attempt: 0 }),
      node('retried', 'a', { attempt: 1, delayMs: 5, lastError: error }),
      node('started', 'a', { attempt: 1 }),
      node('failed', 'a', { error, attempts: 2 }),
      failed,
    ),
  },
  'a loop': {
    events: log(
      started,
      node('started', 'l'),
      node('started', 'a', { iteration: [0] }),
      node('completed', 'a', { iteration: [0] }),
      node('started', 'a', { iteration: [1] }),
      node('completed', 'a', { iteration: [1] }),
      node('skipped', 'b', { iteration: [1], reason: 'condition' }),
      node('completed', 'l'),
      completed,
    ),
  },
  'refusals before a start': {
    events: log(
      started,
      node('failed', 'a', { error }),
      node('skipped', 'b', { reason: 'upstream' }),
      failed,
    ),
  },
  'a breached cap': {
    events: log(
      started,
      node('started', 'a'),
      node('completed', 'a'),
      breach('node-executions', 1, 2),
      run('failed', { error: { code: 'recursion_limit_exceeded', message: 'Too many.' } }),
    ),
  },
  'a pause that cut an effect off': {
    events: log(
      started,
      node('started', 'a'),
      node('retried', 'a', { attempt: 1, delayMs: 0 }),
      run('paused', { drainPolicy: 'immediate' }),
      run('resumed'),
      node('started', 'a', { attempt: 1 }),
      node('completed', 'a'),
      completed,
    ),
  },
  'a suspension': {
    events: log(
      started,
      node('started', 'a'),
      node('suspended', 'a', { interruptId: 'i', kind: 'approval' }),
      node('resumed', 'a', { interruptId: 'i' }),
      node('completed', 'a'),
      completed,
    ),
  },
  'a cycle that goes round': {
    events: log(
      started,
      node('started', 'a'),
      node('completed', 'a'),
      node('started', 'b'),
      node('completed', 'b', { reenters: ['a', 'b'] }),
      node('started', 'a'),
      node('completed', 'a'),
      node('started', 'b'),
      node('completed', 'b'),
      completed,
    ),
  },
  'a cancel while work is running and due': {
    events: log(
      started,
      node('started', 'a'),
      node('started', 'b'),
      node('retried', 'b', { attempt: 1 }),
      node('cancelled', 'a'),
      node('cancelled', 'b'),
      run('cancelled'),
    ),
  },
};

const whole = (...middle: Fact[]): LogEntry[] => log(started, ...middle, completed);

/** For each rule, logs that break it. */
const BROKEN: Record<LogRuleId, LogEntry[][]> = {
  L1: [
    log(started, completed).map((entry) => ({ ...entry, sequence: entry.sequence + 1 })),
    log(started, completed).map((entry) => ({ ...entry, sequence: entry.sequence * 2 })),
    log(started, completed).map((entry) => ({ ...entry, sequence: 0 })),
  ],
  L2: [log(started, completed).map((entry) => ({ ...entry, at: -entry.sequence }))],
  L3: [
    log(completed),
    log(node('skipped', 'a'), started, completed),
    whole(started),
    log(run('cancelled'), started),
    log(node('skipped', 'a'), completed),
  ],
  L4: [[], log(started), log(started, completed, failed)],
  L5: [log(started, completed, node('skipped', 'a')), log(started, completed, run('cancelled'))],
  L6: [
    whole(node('started', 'a'), node('started', 'a'), node('completed', 'a')),
    whole(
      node('started', 'a'),
      node('suspended', 'a', { interruptId: 'i' }),
      node('started', 'a'),
      node('completed', 'a'),
    ),
  ],
  L7: [
    whole(node('completed', 'a')),
    whole(node('suspended', 'a', { interruptId: 'i' })),
    whole(node('cancelled', 'a')),
    whole(node('started', 'a'), node('skipped', 'a')),
    whole(
      node('started', 'a', { iteration: [0] }),
      node('completed', 'a', { iteration: [0] }),
      node('completed', 'a', { iteration: [1] }),
    ),
    whole(node('started', 'a'), node('retried', 'a', { attempt: 1 }), node('completed', 'a')),
    whole(node('resumed', 'a')),
  ],
  L8: [
    whole(node('started', 'a'), node('completed', 'a'), node('failed', 'a', { error })),
    whole(node('skipped', 'a'), node('started', 'a'), node('completed', 'a')),
    whole(node('started', 'a'), node('completed', 'a'), node('retried', 'a', { attempt: 1 })),
    whole(node('skipped', 'a'), node('skipped', 'a')),
  ],
  L9: [
    whole(node('retried', 'a', { attempt: 1 })),
    whole(
      node('started', 'a'),
      node('retried', 'a', { attempt: 2 }),
      node('started', 'a', { attempt: 2 }),
      node('completed', 'a'),
    ),
  ],
  L10: [
    whole(node('started', 'a', { attempt: 1 }), node('completed', 'a')),
    whole(
      node('started', 'a'),
      node('retried', 'a', { attempt: 1 }),
      node('started', 'a', { attempt: 0 }),
      node('completed', 'a'),
    ),
  ],
  L11: [
    whole({ type: 'node.skipped', nodeId: 'a', payload: { nodeId: 'b' } }),
    whole({ type: 'node.skipped', payload: { nodeId: 'b' } }),
    whole({ type: 'node.skipped', nodeId: 'a', payload: {} }),
  ],
  L12: [log(started, breach('envelopes', 5, 5), failed)],
  L13: [log(started, breach('budget-tokens', 5, 6), breach('budget-tokens', 5, 7), failed)],
  L14: [
    log(started, breach('node-executions', 1, 2), node('started', 'a'), failed),
    log(started, node('started', 'a'), node('started', 'b'), breach('node-executions', 1, 2), failed),
  ],
  L15: [
    whole(breach('run-duration', 5, 6)),
    log(started, run('failed', { error: { code: 'run_timeout', message: 'Too long.' } })),
    log(
      started,
      run('failed', { error: { code: 'recursion_limit_exceeded', message: 'Too many.' } }),
      breach('node-executions', 1, 2),
    ),
  ],
  L16: [whole(run('paused'), run('paused'), run('resumed')), whole(run('resumed'))],
  L17: [whole(run('paused'), node('started', 'a'), run('resumed'), node('completed', 'a'))],
  L18: [
    log(started, run('failed')),
    log(started, run('failed', { error: 'boom' })),
    log(started, run('failed', { error: { code: 'x', message: '' } })),
  ],
  L19: [whole(node('started', 'a', { typeId: 7 }), node('completed', 'a'))],
  L20: [
    whole(node('started', 'a')),
    whole(node('started', 'a'), node('suspended', 'a', { interruptId: 'i' })),
    whole(node('started', 'a'), node('retried', 'a', { attempt: 1 })),
  ],
  L22: [
    whole(node('started', 'a'), node('completed', 'a', { reenters: ['b'] })),
    whole(
      node('started', 'a'),
      node('started', 'b'),
      node('completed', 'b', { reenters: ['a', 'b'] }),
      node('completed', 'a'),
    ),
  ],
  L21: [whole(variable('a')), whole(node('started', 'a'), node('completed', 'a'), variable('a'))],
};

describe('the checker of logs', () => {
  it.each(Object.entries(LEGAL))('accepts %s', (_, { events, options }) => {
    expect(checkLog(events, { ...options, checkPayload })).toEqual([]);
  });

  it.each(LOG_RULES)('finds what breaks $id: $rule', ({ id }) => {
    for (const events of BROKEN[id]) {
      const found = checkLog(events, { checkPayload }).map((violation) => violation.rule);

      expect(found, JSON.stringify(events)).toContain(id);
    }
  });

  it('refuses a terminal event in the log of a run that has not ended', () => {
    expect(checkLog(log(started, completed), { terminal: false })).toEqual([
      expect.objectContaining({ rule: 'L4' }),
    ]);
  });

  it('finds nothing but the rule that was broken, where only one was', () => {
    const events = whole(node('started', 'a'), node('completed', 'a'), node('completed', 'a'));

    expect(checkLog(events, { checkPayload })).toEqual([
      { rule: 'L8', sequence: 3, message: 'node.completed (3): "a" has already settled' },
    ]);
  });

  it('ignores types it does not know', () => {
    expect(checkLog(whole({ type: 'acme.thing', payload: null }), { checkPayload })).toEqual([]);
  });

  it('numbers its rules without gaps', () => {
    expect(LOG_RULES.map((rule) => rule.id)).toEqual(LOG_RULES.map((_, index) => `L${index + 1}`));
  });
});

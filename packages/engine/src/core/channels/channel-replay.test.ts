import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChannelCommand, Signal, StoredEvent } from '../../ports/store.ts';
import { advance, openRun } from '../decide/advance.ts';
import { causeOf } from '../fold/overlay.ts';
import { createRecordedInputs } from '../replay/recorded-inputs.ts';
import { createReplay } from '../replay/replay.ts';
import { arbitraryTriggers } from '../testing/arbitrary-triggers.ts';
import { chain, node } from '../testing/definitions.ts';
import { arbitraryChoices, interleave } from '../testing/interleave.ts';
import { replayedRecord } from '../testing/replayed-record.ts';
import { fold, simulate, type Simulation } from '../testing/simulation.ts';

const RUNS = Number(process.env.WEFT_PROPERTY_RUNS ?? 150);

/** The log of a replay from `cut`, beginning with the unit that the cut goes through. */
function replayFrom({ plan, log, record: original }: Simulation, cut: number): StoredEvent[] {
  const begin = log.findLastIndex((event) => event.seq <= cut && causeOf(event) !== undefined);
  const { parent: _parent, ...kept } = original;
  const fork = { sourceRunId: original.runId, fromSeq: cut, mode: 'replay' } as const;
  const record = { ...kept, runId: '01890000-0000-7000-8000-00000000000f', fork };
  const run = openRun(plan, record, fold(plan, record, log.slice(0, begin)));
  const reader = createRecordedInputs(plan, run.state, original.runId);
  for (const event of log.slice(begin)) reader.push(event);
  reader.end();
  const source = {
    sourceRunId: original.runId,
    eventAt: (seq: number) => log[seq],
    recordedInputs: reader.recordedInputs,
    isOver: true,
  };
  const replay = createReplay(run, source);
  const events = log.slice(0, begin);
  const sent: Signal[] = [];
  for (let next = replay.next(); next !== undefined; next = replay.next()) {
    const { input, now } = next;
    const budget = {
      maxNodes: 4,
      maxBytes: 1e9,
      spent: () => false,
      canContinue: replay.canContinue,
    };
    const step = advance(run, input, { now, random: 0 }, budget);
    sent.push(...step.signals.filter(({ command }) => command.type === 'channel'));
    events.push(...step.events);
  }
  expect(sent).toEqual([]);
  return events;
}

/** Ids of runs differ, nothing else may. */
function comparable(event: StoredEvent): unknown {
  const { runId: _own, ...payload } = JSON.parse(event.payload) as Record<string, unknown>;
  return { ...event, payload, overlay: undefined };
}

function isReplayedFromAnywhere(source: Simulation): void {
  expect(source.run.state.endedAt, source.story().join('\n')).toBeDefined();
  for (let cut = 0; cut < source.log.length; cut += 1) {
    expect(replayFrom(source, cut), `cut at ${cut}`).toEqual(source.log);
  }
}

const write = (id: string) => node(id, 'core.channelWrite', { channelName: 'log', value: id });
const trigger = (debounceMs: number) => ({
  id: 't',
  type: 'channel-write',
  nodeId: 'seen',
  config: { channel: 'log', debounceMs },
});

describe('a replay', () => {
  it.each([0, 150])('fires triggers with a debounce of %i ms as its source did', (debounceMs) => {
    const source = simulate({
      nodes: [
        write('a'),
        node('wait', 'core.delay', { ms: 100 }),
        write('b'),
        node('wait-2', 'core.delay', { ms: 100 }),
        write('c'),
        node('seen', 'test.effect'),
      ],
      edges: chain('a', 'wait', 'b', 'wait-2', 'c'),
      channels: { log: { reducer: 'append' } },
      triggers: [trigger(debounceMs)],
    });
    source.start();
    source.passTime();
    source.crash();
    for (let guard = 0; guard < 50 && source.run.state.endedAt === undefined; guard += 1) {
      source.now += 7;
      if (source.open.has('seen')) source.succeed('seen');
      else source.passTime();
    }

    isReplayedFromAnywhere(source);
  });

  it('of any run with triggers, from any sequence, gives the same facts', () => {
    fc.assert(
      fc.property(arbitraryTriggers(), arbitraryChoices(), fc.nat(), (spec, choices, where) => {
        const source = simulate(spec, { budget: { maxNodes: 3 } });
        interleave(source, choices);

        const cut = where % source.log.length;
        const events = replayFrom(source, cut);

        const record = replayedRecord(source.log, cut);
        const repeated = record === source.log ? events : events.slice(0, record.length);
        expect(repeated.map(comparable), source.story().join('\n')).toEqual(record.map(comparable));
      }),
      { numRuns: RUNS },
    );
  });

  it('skips nodes that were not triggered when its source did', () => {
    const source = simulate({
      nodes: [node('slow', 'test.effect'), node('end'), node('seen')],
      edges: chain('slow', 'end'),
      channels: { log: { reducer: 'append' } },
      triggers: [trigger(0)],
    });
    source.start();
    source.now += 10;
    source.succeed('slow');

    isReplayedFromAnywhere(source);
  });

  it('takes what children wrote from the source, and what was refused', () => {
    const source = simulate({
      nodes: [node('sub', 'core.subWorkflow', { workflowId: 'child' }), node('seen'), node('end')],
      edges: chain('sub', 'end'),
      channels: { log: { reducer: 'append' }, last: { reducer: 'replace' } },
      triggers: [trigger(50)],
    });
    source.start();
    for (const channel of ['log', 'last', 'log']) {
      source.now += 40;
      source.command(fromChild(source, channel));
    }
    source.passTime();
    source.child('sub', 'completed');
    source.passTime();

    isReplayedFromAnywhere(source);
  });

  it('of a child tells the parent nothing', () => {
    const source = simulate(
      { nodes: [node('send', 'core.channelWrite', { channelName: 'log', value: 1, to: 'parent' })] },
      { parent: { runId: 'p', nodeId: 'sub', nodeKey: 'sub', ancestors: [], collect: [] } },
    );
    source.start();

    isReplayedFromAnywhere(source);
  });
});

function fromChild(run: Simulation, channel: string): ChannelCommand {
  return {
    type: 'channel',
    channel,
    value: 'written',
    sourceRunId: run.run.state.children[0]?.runId ?? '',
    sourceEngineId: 'weft',
    sourceSequence: 2,
    writer: { nodeId: 'send', typeId: 'core.channelWrite' },
  };
}

import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { ChannelCommand } from '../../ports/store.ts';
import { checkLog } from '../fold/log-checker.ts';
import { renderSnapshot } from '../fold/snapshot.ts';
import { chain, edge, node, variable } from '../testing/definitions.ts';
import { fold, logEntries, simulate, type Simulation } from '../testing/simulation.ts';

const PARENT = { runId: 'parent-run', nodeId: 'sub', nodeKey: 'sub', ancestors: ['p'], collect: [] };
const sending = (config: JsonObject = {}) =>
  node('send', 'core.channelWrite', { channelName: 'log', value: 'hello', to: 'parent', ...config });

const channelCommands = (run: Simulation): ChannelCommand[] =>
  run.signals.flatMap(({ command }) => (command.type === 'channel' ? [command] : []));

/** A parent whose node `sub` waits for its child. */
function parentWith(log: JsonObject, triggers: JsonObject[] = []): Simulation {
  const run = simulate({
    nodes: [node('sub', 'core.subWorkflow', { workflowId: 'child' }), node('seen'), node('after')],
    edges: [edge('seen', 'after')],
    channels: { log },
    ...(triggers.length > 0 && { triggers }),
  });
  run.start();
  return run;
}

function written(run: Simulation, rest: Partial<ChannelCommand> = {}): ChannelCommand {
  return {
    type: 'channel',
    channel: 'log',
    value: 'hello',
    sourceRunId: run.run.state.children[0]?.runId ?? '',
    sourceEngineId: 'weft',
    sourceSequence: 2,
    writer: { nodeId: 'send', typeId: 'core.channelWrite' },
    ...rest,
  };
}

const isLegal = (run: Simulation) =>
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);

describe('a child that writes to its parent', () => {
  it('sends the write with its own facts, before the news of its end (E-18)', () => {
    const child = simulate({ nodes: [sending()] }, { parent: PARENT });

    child.start();

    expect(child.story()).toEqual([
      'run.started',
      'node.started send',
      'weft.channel.sent send',
      'node.completed send',
      'run.completed',
    ]);
    expect(child.signals.map(({ runId, commandId, command }) => [runId, commandId, command.type])).toEqual([
      ['parent-run', `channel:${child.record.runId}:2`, 'channel'],
      ['parent-run', `child:${child.record.runId}:5`, 'child'],
    ]);
    expect(channelCommands(child)[0]).toMatchObject({
      channel: 'log',
      value: 'hello',
      sourceRunId: child.record.runId,
      sourceEngineId: 'weft',
      sourceSequence: 2,
      writer: { nodeId: 'send', typeId: 'core.channelWrite' },
    });
    isLegal(child);
  });

  it('fails where there is no parent, naming the field', () => {
    const run = simulate({ nodes: [sending()] });

    run.start();

    expect(run.run.state.error).toMatchObject({ code: 'validation_error', details: { field: 'to' } });
    expect(run.signals).toEqual([]);
  });

  it('says so when the value is one that it must not show', () => {
    const child = simulate(
      {
        nodes: [
          node(
            'send',
            'core.channelWrite',
            { channelName: 'log', to: 'parent' },
            { inputs: { value: { type: 'variable', variableName: 'pin' } } },
          ),
        ],
        variables: [variable('pin', { sensitive: true })],
      },
      { parent: PARENT, inputs: { pin: 'very-private-value' } },
    );

    child.start();

    expect(channelCommands(child)).toMatchObject([{ value: 'very-private-value', sensitive: true }]);
    expect(child.log.map(({ payload }) => payload).join()).not.toContain('very-private-value');
  });
});

describe('a parent', () => {
  it('records what its child wrote, with its origin, in its own order (E-20)', () => {
    const run = parentWith({ reducer: 'append' });

    const { commandResult } = run.command(written(run));

    expect(commandResult).toMatchObject({ applied: true });
    expect(run.payload('channel.written')).toEqual({
      channel: 'log',
      value: 'hello',
      reducer: 'append',
      writtenAt: expect.any(String),
      schemaVersion: 1,
      sourceEngineId: 'weft',
      sourceRunId: run.run.state.children[0]?.runId,
    });
    expect(run.run.state.channels.get('log')).toEqual(['hello']);
    expect(fold(run.plan, run.record, run.log).channels.get('log')).toEqual(['hello']);
    isLegal(run);
  });

  it('keeps to itself what its child must not show, unless its channel is declared not to be sensitive', () => {
    const value = 'a very private value';
    for (const sensitive of [undefined, true, false]) {
      const run = parentWith({ reducer: 'append', ...(sensitive !== undefined && { sensitive }) });

      run.command(written(run, { value, sensitive: true }));

      const shown = JSON.stringify([
        run.log.map(({ payload }) => payload),
        renderSnapshot(run.plan, run.record, run.run.state, { status: 'running' }),
      ]);
      expect(shown.includes(value)).toBe(sensitive === false);
      expect(fold(run.plan, run.record, run.log).channels.get('log')).toEqual([value]);
    }
  });

  it.each<[string, JsonObject, Partial<ChannelCommand>]>([
    ['channel_cross_engine_write_forbidden', { reducer: 'replace' }, {}],
    ['channel_cross_engine_write_forbidden', { reducer: 'merge' }, { value: {} }],
    ['channel_access_denied', { reducer: 'append', access: { writers: ['other'] } }, {}],
    ['validation_error', { reducer: 'counter' }, {}],
    ['validation_error', { reducer: 'append' }, { channel: 'other' }],
  ])('refuses with %s, and warns of it in its log (E-19)', (code, log, rest) => {
    const run = parentWith(log);

    const { commandResult } = run.command(written(run, rest));

    expect(commandResult).toMatchObject({ applied: false });
    expect(run.story()).not.toContain('channel.written');
    expect(run.payload('log.appended')).toMatchObject({ level: 'warn', fields: { code } });
    expect(run.run.state.status).toBe('running');
    isLegal(run);
  });

  it('takes writes of nodes that its list of writers names', () => {
    const run = parentWith({ reducer: 'append', access: { writers: ['send'] } });

    run.command(written(run));

    expect(run.run.state.channels.get('log')).toEqual(['hello']);
  });

  it('hears nothing from runs that are not its children', () => {
    const run = parentWith({ reducer: 'append' });

    const { commandResult } = run.command(written(run, { sourceRunId: 'other-run' }));

    expect(commandResult).toMatchObject({ applied: false });
    expect(run.story().at(-1)).toBe('node.dispatched sub');
  });

  it('hears its child after a pause, not during it', () => {
    const run = parentWith({ reducer: 'append' });
    run.command({ type: 'pause', policy: 'immediate' });
    expect(run.command(written(run)).commandResult).toBeUndefined();

    run.command({ type: 'resume' });

    expect(run.command(written(run)).commandResult).toMatchObject({ applied: true });
  });

  it.each([
    ['child', 'completed'],
    ['any', 'completed'],
    ['parent', 'skipped'],
  ])('with a trigger on writes of %s has its node %s', (onlyFrom, status) => {
    const trigger = { id: 't', type: 'channel-write', nodeId: 'seen', config: { channel: 'log', onlyFrom } };
    const run = parentWith({ reducer: 'append' }, [trigger]);

    run.command(written(run));
    run.child('sub', 'completed');

    expect(run.run.state.nodes.get('seen')?.status).toBe(status);
    expect(run.run.state.status).toBe('completed');
    isLegal(run);
  });

  it('does not start a node for what the node’s own child wrote', () => {
    const run = simulate({
      nodes: [
        node('first', 'core.channelWrite', { channelName: 'log', value: 1 }),
        node('seen'),
        node('sub', 'core.subWorkflow', { workflowId: 'child' }),
      ],
      edges: chain('seen', 'sub'),
      channels: { log: { reducer: 'append' } },
      triggers: [{ id: 't', type: 'channel-write', nodeId: 'seen', config: { channel: 'log' } }],
    });
    run.start();

    run.command(written(run));
    run.child('sub', 'completed');

    expect(run.story().filter((line) => line === 'node.started seen')).toHaveLength(1);
    expect(run.run.state.status).toBe('completed');
  });
});

describe('the definition of a child', () => {
  it('leaves what the parent declares to the parent', () => {
    expect(() => simulate({ nodes: [sending({ reducer: 'append' })] })).toThrow(/reducer out/);
  });
});

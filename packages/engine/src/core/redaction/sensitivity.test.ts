import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { decodeState, encodeState } from '../fold/checkpoint.ts';
import { renderSnapshot } from '../fold/snapshot.ts';
import { redactorFor } from './sensitive.ts';
import { chain, edge, node, type NodeSpec, variable, type WorkflowSpec } from '../testing/definitions.ts';
import { fold, simulate, type Simulation, type SimulationOptions } from '../testing/simulation.ts';

const PIN = '471';
const pin = variable('pin', { sensitive: true });
const set = (id: string, name: string, expression: string): NodeSpec =>
  node(id, 'core.setVariable', { name, expression });

/** Everything of a run that others may see. */
function shownOf(run: Simulation): string {
  const { plan, record, log } = run;
  const { state } = run.run;
  return JSON.stringify([
    log.map(({ payload }) => payload),
    renderSnapshot(plan, record, state, { status: state.status }),
    run.signals.map(({ command }) => (command.type === 'child' ? command.outputs : null)),
  ]);
}

function started(spec: WorkflowSpec, options: SimulationOptions = {}): Simulation {
  const run = simulate(spec, { inputs: { pin: PIN }, ...options });
  run.start();
  return run;
}

/** The public payload of the last such event. */
function last(run: Simulation, type: string, nodeId?: string): JsonObject {
  const found = run.log.findLast(
    (event) => event.type === type && (nodeId === undefined || event.nodeId === nodeId),
  );
  return JSON.parse(found?.payload ?? '{}') as JsonObject;
}

describe('what is worked out from a sensitive value', () => {
  it.each([
    ['a copy', 'vars.pin'],
    ['a part', 'vars.pin.substring(1)'],
    ['a longer text', '"x" + vars.pin + "y"'],
    ['a number', 'int(vars.pin) + 1'],
    ['a truth', 'vars.pin == "471"'],
    ['a list', '[1, 2].map(n, vars.pin)'],
    ['an object', '{"made": vars.pin}'],
  ])('is sensitive: %s', (_what, expression) => {
    const run = started({
      nodes: [node('first'), set('make', 'made', expression), node('last', 'core.end')],
      edges: chain('first', 'make', 'last'),
      variables: [pin],
    });

    expect(last(run, 'variable.changed')).toMatchObject({ name: 'made', next: '[REDACTED]' });
    expect(last(run, 'node.completed', 'make')).toEqual({
      nodeId: 'make',
      outputs: { output: '[REDACTED]' },
    });
    expect(last(run, 'run.completed')).toMatchObject({ outputs: { output: '[REDACTED]' } });
    const { variables, outputs } = renderSnapshot(run.plan, run.record, run.run.state, {
      status: 'completed',
    });
    expect(variables).toMatchObject({ made: '[REDACTED]' });
    expect(outputs).toMatchObject({ output: '[REDACTED]' });
  });

  it('is sensitive through any number of nodes, edges, connections and variables', () => {
    const run = started({
      nodes: [
        node('0'),
        set('a', 'first', 'vars.pin + "-1"'),
        node('b', 'core.identity'),
        node(
          'c',
          'core.merge',
          {},
          { inputs: { x: { type: 'connection', nodeId: 'a', outputKey: 'output' } } },
        ),
        set('d', 'second', 'nodes.c.x + nodes.b.input + vars.first'),
        node('e', 'core.getVariable', { name: 'second' }),
        node('f', 'core.conditional', { condition: 'true' }),
        node('g', 'core.delay', { ms: 0 }),
        node('h', 'core.end'),
      ],
      edges: [
        ...chain('0', 'a', 'b', 'c', 'd', 'e', 'f'),
        edge('f', 'g', { sourceOutput: 'true' }),
        edge('g', 'h'),
      ],
      variables: [pin],
    });

    expect(run.run.state.status).toBe('completed');
    expect(shownOf(run)).not.toContain(PIN);
    for (const nodeId of ['a', 'b', 'c', 'd', 'e', 'h'])
      expect(JSON.stringify(last(run, 'node.completed', nodeId)), nodeId).toContain('[REDACTED]');
  });

  it('is sensitive in a loop over it, and in the list of results', () => {
    const run = started(
      {
        nodes: [
          node('loop', 'core.loop', { body: ['work'], items: 'vars.list', maxIterations: 5 }),
          set('work', 'seen', 'inputs.item + 1000'),
        ],
        variables: [variable('list', { type: 'array', sensitive: true })],
      },
      { inputs: { list: [41, 42] } },
    );

    expect(run.run.state.variables.get('seen')).toBe(1042);
    expect(last(run, 'node.completed', 'loop')).toMatchObject({ outputs: { output: '[REDACTED]' } });
    expect(shownOf(run)).not.toMatch(/104[12]/);
  });

  it('is sensitive in channels, declared or not, and what reads them', () => {
    const run = started({
      nodes: [
        node(
          'w',
          'core.channelWrite',
          { channelName: 'c' },
          { inputs: { value: { type: 'expression', expression: '"n" + vars.pin' } } },
        ),
        node(
          'u',
          'core.channelWrite',
          { channelName: 'free' },
          { inputs: { value: { type: 'variable', variableName: 'pin' } } },
        ),
        node('r', 'weft.channel.read', { channelName: 'c' }),
      ],
      edges: chain('w', 'u', 'r'),
      variables: [pin],
      channels: { c: { reducer: 'append' } },
    });

    expect(run.run.state.channels.get('c')).toEqual([`n${PIN}`]);
    expect(last(run, 'channel.written', 'w')).toMatchObject({ value: '[REDACTED]' });
    expect(last(run, 'node.completed', 'r')).toMatchObject({ outputs: { output: '[REDACTED]' } });
    const snapshot = renderSnapshot(run.plan, run.record, run.run.state, { status: 'completed' });
    expect(snapshot).toMatchObject({ channels: { c: '[REDACTED]' }, variables: { free: '[REDACTED]' } });
  });

  it('is public where its target is declared not to be sensitive (R-2)', () => {
    const run = started({
      nodes: [
        node('0'),
        set('a', 'shown', 'vars.pin + "!"'),
        set('b', 'copied', 'vars.pin'),
        node(
          'c',
          'core.channelWrite',
          { channelName: 'open' },
          { inputs: { value: { type: 'expression', expression: '"c" + vars.pin' } } },
        ),
        node(
          'd',
          'core.merge',
          {},
          {
            inputs: { x: { type: 'expression', expression: '"d" + vars.pin' } },
            outputSensitivity: { x: false },
          },
        ),
      ],
      edges: chain('0', 'a', 'b', 'c', 'd'),
      variables: [pin, variable('shown', { sensitive: false }), variable('copied', { sensitive: false })],
      channels: { open: { reducer: 'replace', sensitive: false } },
    });

    const snapshot = renderSnapshot(run.plan, run.record, run.run.state, { status: 'completed' });
    expect(snapshot).toMatchObject({
      variables: { pin: '[REDACTED]', shown: `${PIN}!`, copied: PIN },
      channels: { open: `c${PIN}` },
    });
    expect(last(run, 'node.completed', 'd')).toMatchObject({ outputs: { x: `d${PIN}` } });
    // The node's own output is another place, of which no one said so.
    expect(last(run, 'node.completed', 'a')).toMatchObject({ outputs: { output: '[REDACTED]' } });
  });

  it('does not make sensitive what only comes after it, or stands next to it', () => {
    const run = started(
      {
        nodes: [
          node('start', 'core.start'),
          set('secret', 'made', 'vars.pin + "x"'),
          set('plain', 'name', '"Ada from " + vars.city'),
          node(
            'pass',
            'core.merge',
            {},
            { inputs: { city: { type: 'connection', nodeId: 'start', outputKey: 'city' } } },
          ),
          set('member', 'town', 'nodes.start.output.city'),
        ],
        edges: chain('start', 'secret', 'plain', 'pass', 'member'),
        variables: [pin, variable('city')],
      },
      { inputs: { pin: PIN, city: 'Turin' } },
    );

    expect(last(run, 'node.completed', 'plain')).toMatchObject({ outputs: { output: 'Ada from Turin' } });
    expect(last(run, 'node.completed', 'pass')).toMatchObject({ outputs: { city: 'Turin' } });
    expect(last(run, 'node.completed', 'member')).toMatchObject({ outputs: { output: 'Turin' } });
    expect(
      renderSnapshot(run.plan, run.record, run.run.state, { status: 'completed' }).variables,
    ).toMatchObject({
      pin: '[REDACTED]',
      made: '[REDACTED]',
      city: 'Turin',
      name: 'Ada from Turin',
    });
  });

  it('is no longer sensitive when it has been replaced', () => {
    const run = started({
      nodes: [set('a', 'v', 'vars.pin + "1"'), set('b', 'v', '"fine"'), set('c', 'w', 'vars.v')],
      edges: chain('a', 'b', 'c'),
      variables: [pin],
    });

    expect(last(run, 'variable.changed', 'b')).toMatchObject({ previous: '[REDACTED]', next: 'fine' });
    expect(last(run, 'variable.changed', 'c')).toMatchObject({ next: 'fine' });
  });

  it('hides why a node fails that reads it', () => {
    const run = started({
      nodes: [set('a', 'v', 'int(vars.pin + "x9x")')],
      variables: [pin],
    });

    expect(run.run.state.status).toBe('failed');
    expect(last(run, 'run.failed')).toMatchObject({ error: { code: 'expression_failed' } });
    expect(shownOf(run)).not.toContain('x9x\\"');
    expect(shownOf(run)).not.toContain(PIN);
  });

  it('is hidden in what a node asks people, and in what it says on the way', () => {
    const run = started({
      nodes: [
        node(
          'ask',
          'core.approvalGate',
          { title: 'Pay?' },
          { inputs: { artifactData: { type: 'expression', expression: '{"code": "A" + vars.pin}' } } },
        ),
      ],
      variables: [pin],
    });

    expect(last(run, 'interrupt.requested')).toMatchObject({
      data: { title: 'Pay?', actions: ['accept', 'reject'], artifactData: '[REDACTED]' },
    });
    expect(run.run.state.nodes.get('ask')?.interrupt?.data).toMatchObject({
      artifactData: { code: `A${PIN}` },
    });
    run.answer('ask', { action: 'accept', comment: `the code is A${PIN}` });
    expect(shownOf(run)).not.toContain(PIN);
  });

  it('is hidden in what an orchestrator decides, and in the question it has asked', () => {
    const run = started({
      nodes: [
        node('boss', 'core.orchestrator.supervisor', {
          decide: `visit == 0 ? {"kind": "ask-user", "prompt": "Is it P" + vars.pin + "?"} : {"kind": "terminate"}`,
        }),
        node('work', 'core.dispatch'),
      ],
      edges: [edge('boss', 'work'), edge('work', 'boss')],
      variables: [pin],
      channels: { conversation: { reducer: 'message' } },
    });

    expect(last(run, 'runOrchestrator.decided')).toMatchObject({ decision: '[REDACTED]', iteration: 1 });
    expect(last(run, 'conversation.opened')).toMatchObject({
      initialTurn: { role: 'agent', content: '[REDACTED]' },
    });
    expect(last(run, 'interrupt.requested')).toMatchObject({
      data: { prompt: '[REDACTED]', conversationId: 'work' },
    });
    run.answer('work', { operation: 'close', content: `yes: Is it P${PIN}?` });
    expect(run.run.state.status).toBe('completed');
    expect(shownOf(run)).not.toContain(PIN);
  });

  it('is hidden in which workflow a decision names', () => {
    const run = started({
      nodes: [
        node('boss', 'core.orchestrator.supervisor', {
          decide: '{"kind": "next-worker", "nextWorkerIds": ["worker-" + vars.pin.substring(1)]}',
        }),
        node('work', 'core.dispatch'),
      ],
      edges: [edge('boss', 'work'), edge('work', 'boss')],
      variables: [pin],
    });

    expect(last(run, 'node.dispatched', 'work')).toMatchObject({ childWorkflowId: '[REDACTED]' });
    const child = run.run.state.nodes.get('work')?.child;
    expect(child?.workflowId).toBe(`worker-${PIN.slice(1)}`);
    const message = `No workflow has the id "${child?.workflowId}".`;
    run.settle({
      type: 'child-created',
      key: 'work',
      childRunId: child?.runId ?? '',
      error: { code: 'unknown_child_workflow', message },
    });
    expect(run.run.state.status).toBe('failed');
    expect(shownOf(run)).not.toContain(`worker-${PIN.slice(1)}`);
  });

  it('is hidden in how long a node waits', () => {
    const run = started(
      {
        nodes: [
          node('0'),
          node(
            'wait',
            'core.delay',
            {},
            { inputs: { delayMs: { type: 'expression', expression: 'vars.ms' } } },
          ),
        ],
        edges: chain('0', 'wait'),
        variables: [variable('ms', { type: 'number', sensitive: true })],
      },
      { inputs: { ms: 86_471 } },
    );
    run.passTime();

    expect(run.run.state.status).toBe('completed');
    expect(shownOf(run)).not.toContain('86471');
  });
});

describe('an answer whose place is declared sensitive', () => {
  const ask = (typeId: string, config: JsonObject, port: string): WorkflowSpec => ({
    nodes: [
      node('ask', typeId, config, { outputSensitivity: { [port]: true } }),
      set('after', 'echo', 'nodes.ask'),
    ],
    edges: chain('ask', 'after'),
    channels: { conversation: { reducer: 'message' } },
  });
  const questions = { questions: [{ id: 'q', question: 'Which PIN?' }] };
  const custom = { kind: 'custom', data: { customKind: 'pin' } };

  it.each<[string, JsonObject, string, JsonObject]>([
    ['core.clarificationGate', questions, 'output', { answers: { q: `a ${PIN}` } }],
    ['core.clarificationGate', questions, 'answers', { answers: { q: PIN } }],
    ['core.approvalGate', {}, 'output', { action: 'accept', feedback: PIN, comment: `is ${PIN}` }],
    ['core.approvalGate', {}, 'feedback', { action: 'accept', feedback: PIN }],
    ['core.interrupt', custom, 'output', { pin: Number(PIN), more: [PIN] }],
    ['core.interrupt', custom, 'pin', { pin: PIN }],
    ['core.conversationGate', { turnCount: 2 }, 'outcome', { operation: 'exchange', content: PIN }],
    ['core.conversationGate', {}, 'outcome', { operation: 'close', content: PIN, outcome: PIN }],
  ])('is hidden wherever it is recorded: %s %j, %s', (typeId, config, port, answer) => {
    const run = started(ask(typeId, config, port), { inputs: {} });

    run.answer('ask', answer);
    if (run.run.state.status !== 'completed') run.answer('ask', answer);

    expect(run.run.state.status).toBe('completed');
    expect(shownOf(run)).not.toContain(PIN);
    expect(JSON.stringify(run.run.state.variables.get('echo'))).toContain(PIN);
  });

  it('still tells what was decided, and by which names', () => {
    const run = started(ask('core.approvalGate', {}, 'output'), { inputs: {} });
    const other = started(ask('core.clarificationGate', questions, 'output'), { inputs: {} });

    run.answer('ask', { action: 'accept', feedback: PIN });
    other.answer('ask', { answers: { q: PIN } });

    expect(last(run, 'approval.received')).toMatchObject({ action: 'accept', feedback: '[REDACTED]' });
    expect(last(run, 'interrupt.resolved')).toMatchObject({
      resumeValue: { action: 'accept', feedback: '[REDACTED]' },
    });
    expect(last(other, 'clarification.resolved')).toMatchObject({ answers: { q: '[REDACTED]' } });
  });

  it('is the same after a crash', () => {
    const run = started(ask('core.clarificationGate', questions, 'answers'), { inputs: {} });
    run.crash();
    run.answer('ask', { answers: { q: PIN } });
    run.crash();

    expect(shownOf(run)).not.toContain(PIN);
  });
});

describe('a value that a node puts out twice', () => {
  const twice = (outputSensitivity: Record<string, boolean>): Simulation => {
    const run = started(
      { nodes: [node('call', 'test.effect', {}, { outputSensitivity })], edges: [] },
      { inputs: {} },
    );
    run.succeed('call', { body: `said ${PIN}`, output: `said ${PIN}`, ok: true, isOk: true, other: 'x' });
    return run;
  };

  it('is sensitive on both ports when one declares it', () => {
    const run = twice({ body: true, ok: true });

    expect(last(run, 'node.completed')).toMatchObject({
      outputs: { body: '[REDACTED]', output: '[REDACTED]', ok: '[REDACTED]', isOk: true, other: 'x' },
    });
    expect(shownOf(run)).not.toContain(PIN);
  });

  it('is so as an object, too, together with what was found in it', () => {
    const run = started(
      {
        nodes: [
          node(
            'call',
            'test.effect',
            {},
            {
              inputs: { key: { type: 'variable', variableName: 'pin' } },
              outputSensitivity: { body: true },
            },
          ),
        ],
        variables: [pin],
      },
      { inputs: { pin: 'a-private-text' } },
    );
    const said = (): JsonObject => ({ body: { code: 4711 }, near: 'a-private-text' });

    run.succeed('call', { ...said(), output: said(), copy: said().body ?? null });

    expect(last(run, 'node.completed')).toMatchObject({
      outputs: {
        body: '[REDACTED]',
        near: '[REDACTED]',
        output: { body: '[REDACTED]', near: '[REDACTED]' },
        copy: '[REDACTED]',
      },
    });
  });

  it('is public on the port that says so', () => {
    expect(last(twice({ body: true, output: false }), 'node.completed')).toMatchObject({
      outputs: { body: '[REDACTED]', output: `said ${PIN}` },
    });
  });
});

describe('what an effect was given', () => {
  const effect = (expression: string): WorkflowSpec => ({
    nodes: [
      node('call', 'test.effect', {}, { inputs: { body: { type: 'expression', expression } } }),
      set('after', 'echo', 'string(nodes.call.said) + "?"'),
    ],
    edges: chain('call', 'after'),
    variables: [pin],
  });

  it.each<[string, Json, Json]>([
    ['alone', PIN, '[REDACTED]'],
    ['as a number', Number(PIN), '[REDACTED]'],
    ['as a word', `got ${PIN}, thanks`, 'got [REDACTED], thanks'],
    ['in base64', btoa(PIN), '[REDACTED]'],
    ['in hexadecimal', '343731', '[REDACTED]'],
    ['percent-encoded', 'p=%34%37%31&q=1', 'p=[REDACTED]&q=1'],
  ])('is masked in the answer, %s, and so is what is made from the answer', (_how, said, shown) => {
    const run = started(effect('vars.pin'));

    run.succeed('call', { said, port: 4711, when: '2026-04-71' });

    expect(last(run, 'node.completed', 'call')).toMatchObject({
      outputs: { said: shown, port: 4711, when: '2026-04-71' },
    });
    expect(last(run, 'node.completed', 'after')).toMatchObject({ outputs: { output: '[REDACTED]' } });
    expect(run.run.state.nodes.get('call')?.outputs?.['said']).toBe(said);
  });

  it('is found although nothing else in the run holds it (R-1)', () => {
    const run = started(effect('vars.pin + "-" + vars.pin.substring(0, 1)'));

    run.succeed('call', { said: `hello ${PIN}-4 there` });

    expect(shownOf(run)).not.toContain(`${PIN}-4`);
    expect(run.run.state.variables.get('echo')).toBe(`hello ${PIN}-4 there?`);
  });

  it('is found after a takeover, too', () => {
    const run = started(effect('vars.pin + "-" + vars.pin.substring(0, 1)'));
    run.crash();

    run.succeed('call', { said: `hello ${PIN}-4 there` });

    expect(shownOf(run)).not.toContain(`${PIN}-4`);
  });

  it('is masked in errors, wherever they are recorded', () => {
    const run = started(effect('"key-" + vars.pin'));
    run.settle({
      type: 'outcome',
      key: 'call',
      attempt: 0,
      outcome: {
        ok: false,
        error: { code: 'x', message: `refused key-${PIN}`, details: { sent: `key-${PIN}` } },
      },
    });

    expect(run.run.state.status).toBe('failed');
    expect(shownOf(run)).not.toContain(PIN);
  });

  it('does not blur what the engine counts', () => {
    const run = started(effect('int("0")'), { inputs: { pin: '0' } });

    run.succeed('call', { said: 'x' });

    expect(last(run, 'node.started', 'call')).toEqual({ nodeId: 'call', typeId: 'test.effect', attempt: 0 });
  });
});

describe('a child run', () => {
  const parentSpec: WorkflowSpec = {
    nodes: [
      node('sub', 'core.subWorkflow', {
        workflowId: 'child',
        inputMapping: { code: 'pin', city: 'city' },
        outputMapping: { back: 'made' },
      }),
      set('after', 'last', 'vars.back + vars.back'),
    ],
    edges: chain('sub', 'after'),
    variables: [pin, variable('city')],
  };
  const childSpec: WorkflowSpec = {
    nodes: [set('make', 'made', '"m" + inputs.code'), set('plain', 'town', 'vars.city')],
    edges: chain('make', 'plain'),
  };
  const parentLink = { runId: 'p', nodeId: 'sub', nodeKey: 'sub', ancestors: ['p'], collect: ['made'] };

  it('knows which of its inputs are sensitive, hides them, and reports what it made from them', () => {
    const parent = started(parentSpec, { inputs: { pin: PIN, city: 'Turin' } });
    const [request] = parent.spawned;
    expect(request).toMatchObject({
      spec: { inputs: { code: PIN, city: 'Turin' } },
      sensitiveInputs: { code: true },
    });

    const child = simulate(childSpec, {
      inputs: request?.spec.inputs ?? {},
      sensitiveInputs: request?.sensitiveInputs ?? false,
      parent: parentLink,
    });
    child.start();

    expect(shownOf(child)).not.toContain(PIN);
    expect(shownOf(child)).toContain('Turin');
    const signal = child.signals.at(-1)?.command;
    expect(signal).toMatchObject({ type: 'child', variables: { made: `m${PIN}` }, sensitive: ['made'] });
    if (signal?.type !== 'child') throw new Error('the child sent no signal');
    const { childRunId: _theirs, ...rest } = signal;
    parent.child('sub', 'completed', rest);
    expect(parent.run.state.variables.get('last')).toBe(`m${PIN}m${PIN}`);
    expect(shownOf(parent)).not.toContain(PIN);
  });

  it('costs no bytes where nothing is sensitive', () => {
    const parent = started(
      { ...parentSpec, variables: [variable('pin'), variable('city')] },
      { inputs: { pin: PIN } },
    );

    expect(parent.spawned[0]).not.toHaveProperty('sensitiveInputs');
    expect(JSON.stringify(parent.log)).not.toContain('sensitive');
  });

  it('may declare that an input is not sensitive to it', () => {
    const child = simulate(
      { ...childSpec, variables: [variable('code', { sensitive: false })] },
      { inputs: { code: 'a code of mine', city: 'x' }, sensitiveInputs: { code: true }, parent: parentLink },
    );
    child.start();

    expect(shownOf(child)).toContain('a code of mine');
  });
});

describe('what a run keeps of it', () => {
  it('is the same after a crash as before, and after a checkpoint', () => {
    const spec: WorkflowSpec = {
      nodes: [
        set('a', 'v', 'vars.pin + "abc"'),
        node(
          'w',
          'core.channelWrite',
          { channelName: 'c' },
          { inputs: { value: { type: 'variable', variableName: 'v' } } },
        ),
        node('call', 'test.effect', {}, { inputs: { body: { type: 'variable', variableName: 'v' } } }),
        set('b', 'u', 'vars.v + "def"'),
      ],
      edges: chain('a', 'w', 'call', 'b'),
      variables: [pin],
      channels: { c: { reducer: 'append' } },
    };
    const whole = started(spec);
    const broken = started(spec);
    const { plan, record, log } = broken;

    const folded = fold(plan, record, log);
    expect(decodeState(encodeState(folded))).toEqual(folded);
    expect(folded).toEqual(broken.run.state);
    const texts = ['471', '471abc', '1234567', btoa('x471abc')];
    const seen = (redact: (text: string) => string) => texts.map((text) => redact(`say ${text}`));
    expect(seen(redactorFor(plan, record, folded).redactText)).toEqual(seen(broken.run.redactor.redactText));

    broken.crash();
    for (const run of [whole, broken]) run.succeed('call', { output: `${PIN}abc` });
    expect(broken.log.map(({ payload }) => payload)).toEqual(whole.log.map(({ payload }) => payload));
  });

  it('is nothing where nothing is sensitive', () => {
    const run = started({ nodes: [node('0'), set('a', 'v', 'vars.pin')], edges: chain('0', 'a') });

    expect(run.run.known).toBeUndefined();
    expect(run.log.every(({ overlay }) => overlay === undefined)).toBe(true);
    expect(run.run.state.variables.get('v')).toBe(PIN);
  });

  it('hides every text when there is more to look for than can be', () => {
    const list = Array.from({ length: 50_001 }, (_, number) => `value ${number}`);
    const run = started(
      {
        nodes: [node('call', 'test.effect'), set('shrink', 'list', '[]')],
        edges: chain('call', 'shrink'),
        variables: [variable('list', { type: 'array', sensitive: true })],
      },
      { inputs: { list } },
    );
    // The run's input stays what it was, so there is no going back.
    run.succeed('call', { said: 'anything', count: 3, ok: true });

    expect(last(run, 'node.completed', 'call')).toEqual({
      nodeId: 'call',
      outputs: { said: '[REDACTED]', count: '[REDACTED]', ok: true },
    });
  });

  it('follows the masking mode', () => {
    const spec = (maskingMode: string): WorkflowSpec => ({
      nodes: [set('a', 'v', 'vars.pin + "!"'), set('b', 'open', '"x"')],
      edges: chain('a', 'b'),
      variables: [pin],
      metadata: { complianceConfig: { maskingMode } },
    });

    expect(last(started(spec('omit')), 'variable.changed', 'a')).toEqual({ name: 'v', nodeId: 'a' });
    expect(last(started(spec('passthrough')), 'variable.changed', 'a')).toMatchObject({ next: `${PIN}!` });
    // Without a key a digest could be guessed.
    expect(last(started(spec('hash')), 'variable.changed', 'a')).toMatchObject({ next: '[REDACTED]' });
  });
});

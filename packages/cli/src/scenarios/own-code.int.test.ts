import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFile, type Project, type ProjectOptions, startProject } from '../testing/own-code.ts';

let project: Project;

afterEach(async () => {
  await project.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A host that serves the files below nodes/ itself. */
async function withNodes(
  nodes: Readonly<Record<string, string>>,
  more: Partial<ProjectOptions> = {},
): Promise<void> {
  const files = Object.fromEntries(Object.entries(nodes).map(([name, text]) => [`nodes/${name}`, text]));
  project = await startProject({ ...more, files, servesNodes: true });
}

/** A host without code of its own; workers serve it. */
async function apart(nodes: Readonly<Record<string, string>>): Promise<void> {
  const files = Object.fromEntries(Object.entries(nodes).map(([name, text]) => [`nodes/${name}`, text]));
  project = await startProject({ files });
}

const folders: string[] = [];

/** A folder of workflows with one file. */
function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weft-workflows-'));
  folders.push(folder);
  writeFileSync(join(folder, name), text);
  return folder;
}

const ECHO = nodeFile('test.echo', '    return { value: inputs.value };');
/** Notes when it begins and ends, in between waits for a second note that a test writes. */
const SLOW = nodeFile(
  'test.slow',
  `    note('begin ' + invocationId + ' ' + attempt);
    for (let looks = 0; looks < 2000 && !(await import('node:fs')).existsSync(String(inputs.value)); looks += 1) await sleep(10);
    note('end ' + invocationId);
    return { value: 'slow' };`,
);
const LOOP = nodeFile('test.loop', `    note('loop ' + attempt);\n    for (;;);`);
const BOMB = nodeFile(
  'test.bomb',
  `    note('bomb');
    const kept: unknown[] = [];
    for (;;) { kept.push(new Array(1_000_000).fill({})); await sleep(0); }`,
);

async function begun(count: number): Promise<string[]> {
  await project.until(
    async () => (await project.notes()).filter((line) => line.startsWith('begin')).length >= count,
  );
  return (await project.notes()).filter((line) => line.startsWith('begin'));
}

describe('code of a user next to the host', () => {
  it('runs as a node, and its mistakes are errors that name the field', async () => {
    await withNodes({
      'echo.ts': ECHO,
      'wrong.ts': nodeFile('test.wrong', '    return { vlaue: 1 } as never;'),
      'huge.ts': nodeFile('test.huge', "    return { value: 'x'.repeat(400_000) };"),
      'throws.ts': nodeFile('test.throws', "    throw new RangeError('too far');"),
    });

    const outcomes = await Promise.all(
      ['test.echo', 'test.wrong', 'test.huge', 'test.throws'].map(async (typeId) =>
        project.ended(await project.run(typeId, { value: { deep: [1, 2] } })),
      ),
    );

    const [echo, wrong, huge, throws] = outcomes;
    expect(echo).toMatchObject({ status: 'completed', outputs: { value: { deep: [1, 2] } } });
    expect(wrong).toMatchObject({
      status: 'failed',
      error: { code: 'output_invalid', message: expect.stringContaining('value') },
    });
    expect(huge).toMatchObject({ status: 'failed', error: { code: 'output_too_large' } });
    expect(throws).toMatchObject({
      status: 'failed',
      error: {
        code: 'node_failed',
        message: 'too far',
        details: { at: expect.stringContaining('nodes/throws.ts:9:') },
      },
    });
  });

  it('that loops without end fails with its line, and what ran at the same time is performed again (M-1, M-2)', async () => {
    await withNodes(
      { 'loop.ts': LOOP, 'slow.ts': SLOW, 'echo.ts': ECHO },
      { env: { WEFT_NODES_STUCK_MS: '1000' } },
    );
    const slow = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    const loop = await project.ended(await project.run('test.loop'));
    const echo = await project.ended(await project.run('test.echo', { value: 1 }));
    const lines = await begun(2);
    await project.write('go', '');
    const slowEnd = await project.ended(slow);

    expect(loop).toMatchObject({
      status: 'failed',
      error: { code: 'node_unresponsive', message: expect.stringContaining('nodes/loop.ts:10:') },
    });
    expect(echo.status).toBe('completed');
    expect(slowEnd.status).toBe('completed');
    // The same invocation, the same attempt.
    expect(new Set(lines).size).toBe(1);
    expect(project.host.output()).toContain('test.loop runs in a process of its own from now on');
  });

  it('that has shown to loop ends no other task the next time', async () => {
    await withNodes({ 'loop.ts': LOOP, 'slow.ts': SLOW }, { env: { WEFT_NODES_STUCK_MS: '1000' } });
    await project.ended(await project.run('test.loop'));
    const slow = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    await project.ended(await project.run('test.loop'));
    await project.write('go', '');
    await project.ended(slow);

    expect(await begun(1)).toHaveLength(1);
  });

  it('that eats all memory ends as worker_lost, and harms no other run', async () => {
    await withNodes({ 'bomb.ts': BOMB, 'echo.ts': ECHO }, { env: { WEFT_NODES_HEAP_MB: '64' } });
    const bomb = await project.run('test.bomb');
    await project.until(async () => (await project.notes()).includes('bomb'));

    const echo = await project.ended(await project.run('test.echo', { value: 1 }));
    const ended = await project.ended(bomb);

    expect(echo.status).toBe('completed');
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect(project.host.output()).toContain('test.bomb runs in a process of its own from now on');
  });

  it('writes its lines to the log of the host, without what drives a terminal', async () => {
    await withNodes({
      'talk.ts': nodeFile('test.talk', "    console.log('red \\u001b[31m');\n    return { value: 1 };"),
    });

    await project.ended(await project.run('test.talk'));
    await project.until(() => project.host.output().includes('nodes: red'));

    expect(project.host.output()).toContain(String.raw`nodes: red \\u001b[31m`);
  });

  it('ends with the host, also when it is killed while the code loops', async () => {
    await withNodes({ 'loop.ts': LOOP, 'echo.ts': ECHO });
    const pids = nodePids();
    await project.run('test.loop');
    await project.until(async () => (await project.notes()).includes('loop 1'));

    await project.host.kill();

    await project.until(() => pids.every((pid) => !isAlive(pid)));
    expect(pids.length).toBeGreaterThan(0);
  });

  it('that cannot be loaded keeps the host from starting, with file and line', async () => {
    await withNodes({ 'echo.ts': ECHO });
    await project.write('nodes/bad.ts', 'const a = ;');

    const failed = await project.serve(['--port', '0', '--nodes', 'nodes']);

    expect(failed).toMatchObject({ code: 3, err: expect.stringContaining('nodes/bad.ts:1:11') });
  });
});

describe('in development', () => {
  it('a change is live, running tasks finish on the old code, and a mistake replaces nothing (M-3)', async () => {
    await withNodes(
      { 'echo.ts': nodeFile('test.echo', "    return { value: 'old' };"), 'slow.ts': SLOW },
      { flags: ['--dev'] },
    );
    const slow = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    await project.write('nodes/echo.ts', nodeFile('test.echo', "    return { value: 'new' };"));
    await project.until(() => project.host.output().includes('nodes: reloaded'));
    const changed = await project.ended(await project.run('test.echo'));
    await project.write('nodes/echo.ts', 'export const x = ;');
    await project.until(() => project.host.output().includes('nodes: not reloaded'));
    const still = await project.ended(await project.run('test.echo'));
    await project.write('go', '');
    const slowEnd = await project.ended(slow);

    expect(changed).toMatchObject({ outputs: { value: 'new' } });
    expect(still).toMatchObject({ outputs: { value: 'new' } });
    expect(project.host.output()).toContain('nodes/echo.ts:1:18');
    expect(slowEnd.status).toBe('completed');
    expect(await begun(1)).toHaveLength(1);
  });
});

describe('in development, a version whose schemas have changed', () => {
  it('is served as VERSION+HEX, and workflows of files follow it', async () => {
    const file = JSON.stringify({
      ...{ id: 'echoing', version: '1.0.0' },
      nodes: [{ id: 'node', typeId: 'test.echo' }],
      edges: [],
    });
    const wider = nodeFile('test.echo', "    return { value: 'wider' };").replace(
      'outputs: {',
      'outputs: { more: Type.Optional(Type.String()),',
    );
    const workflows = folderWith('echoing.json', file);
    await withNodes({ 'echo.ts': ECHO }, { flags: ['--dev', '--workflows', workflows] });
    await project.until(async () => (await project.client.workflows.list()).items.length > 0);
    const served = async () =>
      (await project.client.nodeTypes.list({ typeId: 'test.echo' })).map(({ version }) => version);
    expect(await served()).toEqual(['1.0.0']);

    await project.write('nodes/echo.ts', wider);
    await project.until(async () => (await served()).length === 2);

    expect((await served()).at(-1)).toMatch(/^1\.0\.0\+[0-9a-f]+$/);
    await project.until(() => project.host.output().includes('"id":"echoing","version":"1.0.0+'));
    const { runId } = await project.client.runs.create({ workflowId: 'echoing' });
    expect(await project.ended(runId)).toMatchObject({ status: 'completed', outputs: { value: 'wider' } });
  });
});

describe('a workflow in a file', () => {
  it('waits for its node type, and is registered when a worker serves it', async () => {
    const nodes = [
      { id: 'node', typeId: 'test.echo', inputs: { value: { type: 'static', value: 'waited' } } },
    ];
    const file = JSON.stringify({ id: 'waiting', version: '1.0.0', nodes, edges: [] });
    const workflows = folderWith('waiting.json', file);
    project = await startProject({ files: { 'nodes/echo.ts': ECHO }, flags: ['--workflows', workflows] });
    expect(project.host.output()).toContain('test.echo');
    expect((await project.client.workflows.list()).items).toEqual([]);

    project.worker();
    await project.until(() => project.host.output().includes('its node types are known'));
    const { runId } = await project.client.runs.create({ workflowId: 'waiting' });

    expect(await project.ended(runId)).toMatchObject({ status: 'completed', outputs: { value: 'waited' } });
  });
});

describe('in development, code from elsewhere', () => {
  it('is watched, too', async () => {
    const other = '../lib/word.ts';
    await withNodes(
      {
        [other]: "export const word = 'old';",
        'echo.ts': `import { word } from '${other}';\n${nodeFile('test.echo', '    return { value: word };')}`,
      },
      { flags: ['--dev'] },
    );

    await project.write('lib/word.ts', "export const word = 'new';");
    await project.until(() => project.host.output().includes('nodes: reloaded'));

    expect(await project.ended(await project.run('test.echo'))).toMatchObject({ outputs: { value: 'new' } });
  });
});

describe('workers', () => {
  it('that are killed lose their task to another one, under the same invocation and attempt', async () => {
    await apart({ 'slow.ts': SLOW });
    const first = project.worker(['--name', 'first']);
    await project.until(() => first.output().includes('Connected'));
    const run = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    first.signal('SIGKILL');
    const second = project.worker(['--name', 'second']);
    const lines = await begun(2);
    await project.write('go', '');
    const ended = await project.ended(run);

    expect(ended.status).toBe('completed');
    expect(new Set(lines).size).toBe(1);
    second.signal('SIGTERM');
    expect(await second.exited).toBe(0);
  });

  it('that were frozen find their late answer dropped', async () => {
    await apart({ 'slow.ts': SLOW });
    const first = project.worker();
    await project.until(() => first.output().includes('Connected'));
    const run = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    first.signal('SIGSTOP');
    const second = project.worker();
    await begun(2);
    await project.write('go', '');
    const ended = await project.ended(run);
    first.signal('SIGCONT');
    await project.until(() => first.output().includes('lease has passed'));

    const { events } = await project.client.runs.poll(run);
    expect(ended.status).toBe('completed');
    expect(events.filter(({ type }) => type === 'node.completed')).toHaveLength(1);
    second.signal('SIGTERM');
    await second.exited;
  });

  it('keep their task while the host is restarted', async () => {
    await apart({ 'slow.ts': SLOW });
    const worker = project.worker();
    await project.until(() => worker.output().includes('Connected'));
    const run = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    await project.host.kill();
    await project.restartHost();
    await project.until(() => worker.output().split('Connected').length > 2);
    await project.write('go', '');
    const ended = await project.ended(run);

    expect(ended.status).toBe('completed');
    expect(await begun(1)).toHaveLength(1);
  });

  it('drain: a task that is running ends before they do', async () => {
    await apart({ 'slow.ts': SLOW });
    const worker = project.worker();
    await project.until(() => worker.output().includes('Connected'));
    const run = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    worker.signal('SIGTERM');
    await project.until(() => worker.output().includes('finishing tasks'));
    await project.write('go', '');

    expect(await worker.exited).toBe(0);
    expect((await project.ended(run)).status).toBe('completed');
    expect(await begun(1)).toHaveLength(1);
  });

  it('leave what does not end in time to another one, at once', async () => {
    await apart({ 'slow.ts': SLOW });
    const first = project.worker(['--grace', '0']);
    await project.until(() => first.output().includes('Connected'));
    const run = await project.run('test.slow', { value: `${project.folder}/go` });
    await begun(1);

    first.signal('SIGTERM');
    expect(await first.exited).toBe(0);
    project.worker();
    const lines = await begun(2);
    await project.write('go', '');

    expect((await project.ended(run)).status).toBe('completed');
    expect(new Set(lines).size).toBe(1);
  });

  it('learn of a cancelled run from their signal', async () => {
    await apart({
      'wait.ts': nodeFile(
        'test.wait',
        `    note('waiting');
    await new Promise((done) => signal.addEventListener('abort', done));
    note('reason ' + signal.reason.code);
    return { value: 1 };`,
      ),
    });
    const worker = project.worker();
    await project.until(() => worker.output().includes('Connected'));
    const run = await project.run('test.wait');
    await project.until(async () => (await project.notes()).includes('waiting'));

    await project.client.runs.cancel(run);

    await project.until(async () => (await project.notes()).includes('reason cancelled'));
    expect((await project.ended(run)).status).toBe('cancelled');
  });
});

/** Processes that the host has started, as its log names them. */
function nodePids(): number[] {
  return [...project.host.output().matchAll(/"message":"nodes: serving[^}]*"process":(\d+)/g)].map(
    ([, pid]) => Number(pid),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended may stay in the table until its parent has looked.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (
      error instanceof Error && 'code' in error && error.code === 'ENOENT' && process.platform !== 'linux'
    );
  }
}

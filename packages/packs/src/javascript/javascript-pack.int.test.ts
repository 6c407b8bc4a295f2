import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { filesOf, MANIFEST } from '../testing/sample-packs.ts';
import { type JavaScriptPack, openJavaScriptPack } from './javascript-pack.ts';
import { type HostFetch, SANDBOX_LIMITS, type SandboxCall, type SandboxLimits } from './sandbox-process.ts';
import { findWalls } from './walls.ts';

const TYPE = 'acme.hello.greet';
const opened: JavaScriptPack[] = [];
let folder: string;
let tcp: Server;
let unix: Server;
let reached = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-walls-'));
  const count = () => (reached += 1);
  tcp = createServer(count);
  unix = createServer(count);
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => unix.listen(join(folder, 'socket'), resolve));
});
afterEach(async () => {
  for (const pack of opened.splice(0)) await pack.stop();
});
afterAll(async () => {
  tcp.close();
  unix.close();
  await rm(folder, { recursive: true, force: true });
});

/** A pack whose one function has this body. */
async function packOf(
  body: string,
  options: { readonly fetch?: HostFetch; readonly limits?: Partial<SandboxLimits> } = {},
): Promise<JavaScriptPack> {
  const code = `let calls = 0; export const nodes = [{ typeId: '${TYPE}', version: '1.0.0', async run({ inputs, log, signal, emit }) { ${body} } }];`;
  const runtime = { language: 'javascript', entry: 'dist/index.mjs', format: 'esm' };
  const manifest = { ...MANIFEST, runtime } as never;
  const pack = await openJavaScriptPack(
    { manifest, files: filesOf(manifest, { 'dist/index.mjs': code }) },
    { fetch: options.fetch, limits: { ...SANDBOX_LIMITS, ...options.limits } },
  );
  opened.push(pack);
  return pack;
}

function callWith(
  inputs: Readonly<Record<string, string | number>> = {},
  more: Partial<SandboxCall> = {},
): SandboxCall {
  const ids = { invocationId: 'i', attempt: 1, runId: 'r', nodeId: 'n', workflowId: 'w' };
  return { typeId: TYPE, context: { inputs, config: {}, secrets: {}, ...ids }, ...more };
}

describe('the process of a pack in JavaScript', () => {
  it('performs calls, several at a time, and says what they log and fail with', async () => {
    const pack = await packOf(
      `log('warn', 'at ' + inputs.n); if (inputs.n === 2) throw Object.assign(new Error('no'), { name: 'NodeError', code: 'declined', retryable: true, details: { n: 2 } }); return { n: inputs.n * 2 };`,
    );
    const lines: string[] = [];
    const onLog = (level: string, message: string) => lines.push(`${level} ${message}`);

    const outcomes = await Promise.all([1, 2, 3].map((n) => pack.invoke(callWith({ n }, { onLog }))));

    expect(outcomes).toEqual([
      { outputs: { n: 2 } },
      { error: { code: 'declined', message: 'no', retryable: true, details: { n: 2 } } },
      { outputs: { n: 6 } },
    ]);
    expect(lines).toEqual(['warn at 1', 'warn at 2', 'warn at 3']);
  });

  /** Fences hold on every system, walls where the system has them. */
  it.each<[string, 'fence' | 'wall', string]>([
    ['read a file', 'fence', `(await import('node:fs')).readFileSync('/etc/hostname')`],
    ['list /proc', 'fence', `(await import('node:fs')).readdirSync('/proc')`],
    ['start a process', 'fence', `(await import('node:child_process')).execFileSync('/bin/true')`],
    ['start a thread', 'fence', `new (await import('node:worker_threads')).Worker('1', { eval: true })`],
    ['connect', 'wall', `await connect(inputs.port, '127.0.0.1')`],
    ['connect to a socket of a path', 'wall', `await connect(inputs.path)`],
    [
      'look up a name',
      'wall',
      `await (await import('node:dns')).promises.resolve4('example.invalid', { timeout: 200 })`,
    ],
    ['signal its keeper', 'wall', `process.kill(inputs.pid, 0)`],
  ])('cannot %s (%s)', async (_, kind, attack) => {
    const pack = await packOf(
      `const net = await import('node:net'); const connect = (...to) => new Promise((done, failed) => { const socket = net.connect(...to, () => { socket.destroy(); done(); }); socket.on('error', failed); });
       try { ${attack}; return { done: true }; } catch (error) { return { done: false, code: String(error.code) }; }`,
    );
    const { isWalled } = await findWalls();
    const { port } = tcp.address() as AddressInfo;
    const before = reached;

    const { outputs } = (await pack.invoke(
      callWith({ port, path: join(folder, 'socket'), pid: process.pid }),
    )) as { outputs: { done: boolean } };

    if (kind === 'wall' && !isWalled) return;
    expect(outputs).toMatchObject({ done: false });
    expect(reached).toBe(before);
  });

  it('inherits no environment and, behind walls, neither user nor privileges', async () => {
    const pack = await packOf(`return { env: Object.keys(process.env), uid: process.getuid?.() ?? -1 };`);
    const { isOtherUser } = await findWalls();

    const { outputs } = (await pack.invoke(callWith())) as { outputs: { env: string[]; uid: number } };

    expect(outputs.env.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([]);
    if (isOtherUser) expect(outputs.uid).not.toBe(process.getuid?.());
  });

  it('reaches the network by the host alone, which decides', async () => {
    const asked: string[] = [];
    const fetch: HostFetch = async ({ url, method, body }) => {
      asked.push(`${method} ${url} ${Buffer.from(body ?? '', 'base64').toString()}`);
      if (url.endsWith('/no')) throw new Error('the destination is not allowed');
      return { status: 201, headers: { 'x-a': 'b' }, body: Buffer.from('{"a":1}').toString('base64') };
    };
    const pack = await packOf(
      `const r = await fetch('https://api.example/yes', { method: 'POST', body: 'hi' });
       const no = await fetch('https://api.example/no').catch((error) => error.message);
       return { status: r.status, header: r.headers.get('x-a'), body: await r.json(), no };`,
      { fetch },
    );

    const outcome = await pack.invoke(callWith());

    expect(outcome).toEqual({
      outputs: {
        status: 201,
        header: 'b',
        body: { a: 1 },
        no: 'fetch failed: the destination is not allowed',
      },
    });
    expect(asked).toEqual(['POST https://api.example/yes hi', 'GET https://api.example/no ']);
  });

  it('is ended with the call whose reports are not taken, which fails by the reason of that', async () => {
    const pack = await packOf(
      `log('info', 'x'); await new Promise((done) => setTimeout(done, inputs.ms)); return {};`,
    );
    const onLog = () => {
      throw Object.assign(new Error('Too fast.'), { code: 'reports_too_fast' });
    };

    const other = pack.invoke(callWith({ ms: 20_000 }));
    const refused = await pack.invoke(callWith({ ms: 20_000 }, { onLog }));

    expect(refused).toMatchObject({ error: { code: 'reports_too_fast', message: 'Too fast.' } });
    expect(await other).toMatchObject({ error: { code: 'sandbox_ended', retryable: true } });
    expect(await pack.invoke(callWith({ ms: 0 }))).toEqual({ outputs: {} });
  });

  it('is replaced after its number of calls', async () => {
    const pack = await packOf(`return { calls: ++calls };`, { limits: { callsPerProcess: 2 } });

    const counts: unknown[] = [];
    for (let n = 0; n < 5; n++) counts.push(await pack.invoke(callWith()));

    expect(counts).toEqual([1, 2, 1, 2, 1].map((calls) => ({ outputs: { calls } })));
  });

  it.each<[string, string, Partial<SandboxLimits>, string]>([
    ['never ends', 'for (;;) {}', { maxMs: 300 }, 'sandbox_timeout'],
    [
      'waits for ever',
      'await new Promise(() => setInterval(() => 0, 1e6))',
      { maxMs: 300 },
      'sandbox_timeout',
    ],
    [
      'fills its heap',
      'const a = []; for (;;) a.push(new Array(1e5).fill(a.length))',
      { heapMb: 32 },
      'sandbox_memory_exceeded',
    ],
    ['ends its process', 'process.exit(0)', {}, 'sandbox_ended'],
    [
      'writes rubbish to its keeper',
      `(await import('node:fs')).writeSync(3, 'rubbish\\n'); await new Promise(() => 0)`,
      { maxMs: 5_000 },
      'sandbox_ended',
    ],
    ['returns no object', 'return [1]', {}, 'output_invalid'],
  ])(
    'that %s fails its own call, and the next one finds a new process (J-7)',
    async (_, attack, limits, code) => {
      const pack = await packOf(`if (inputs.attack === 1) { ${attack} } return { fine: true };`, { limits });

      const attacked = await pack.invoke(callWith({ attack: 1 }));
      const after = await pack.invoke(callWith({ attack: 0 }));

      expect(attacked).toMatchObject({ error: { code } });
      expect(after).toEqual({ outputs: { fine: true } });
    },
  );

  it.each([
    ['throws', 'throw new Error("not today")', 'not today'],
    ['defines something else', 'export const nodes = [];', `does not define ${TYPE}`],
    ['is no JavaScript', 'const = ;', 'cannot be loaded'],
  ])('is refused with a pack whose code %s', async (_, code, text) => {
    const runtime = { language: 'javascript', entry: 'dist/index.mjs' };
    const manifest = { ...MANIFEST, runtime } as never;
    const files = filesOf(manifest, { 'dist/index.mjs': code });

    const opening = openJavaScriptPack({ manifest, files });

    await expect(opening).rejects.toMatchObject({
      code: 'tarball_entry_missing',
      message: expect.stringContaining(text),
    });
  });
});

import { get, type IncomingMessage } from 'node:http';
import type { EffectNodeType, Host } from '@weft/engine';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../start-server.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

const PIECE = 256 * 1024;
const PIECES = 128;

const produce: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.produce',
  title: 'Produce',
  summary: 'Writes a large artifact.',
  config: Type.Object({}, { additionalProperties: false }),
  perform: async (_input, { artifacts }) => {
    async function* pieces(): AsyncIterable<Uint8Array> {
      for (let index = 0; index < PIECES; index++) yield Buffer.alloc(PIECE, index);
    }
    await artifacts.put({ name: 'large', mediaType: 'application/octet-stream', bytes: pieces() });
    return { outputs: {} };
  },
};

const WORKFLOW = workflow('produces', [node('make', 'test.produce')]);

let harness: Harness;
let server: RunningServer;

afterEach(async () => {
  await server.shutdown();
  await harness.close();
});

interface Serving {
  open(): Promise<IncomingMessage>;
  /** Pieces that have been read from the store. */
  taken(): number;
  /** True when it has no reader left. */
  isOver(): boolean;
}

/** Serves an artifact of 32 MiB. */
async function serve(stallMs: number): Promise<Serving> {
  let taken = 0;
  let over = false;
  const counting = (host: Host): Host => ({
    ...host,
    artifacts: {
      ...host.artifacts,
      async open(...asked) {
        const artifact = await host.artifacts.open(...asked);
        if (artifact === undefined) return undefined;
        async function* read(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
          try {
            for await (const piece of bytes) {
              taken += 1;
              yield piece;
            }
          } finally {
            over = true;
          }
        }
        return { ...artifact, read: () => read(artifact.read()) };
      },
    },
  });
  harness = await openHarness({ stallMs }, counting, undefined, { nodes: [produce] });
  await harness.call('POST', '/v1/host/weft/workflows', { body: WORKFLOW });
  const { runId } = await harness.start('produces');
  await harness.reaches(runId, 'completed');
  server = await startServer(harness.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
  const url = `${server.url}/v1/runs/${runId}/artifacts/make%3A0%3Alarge`;
  const open = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(url, { headers: { authorization: `Bearer ${harness.key}` } }, resolve).on('error', reject);
    });
  return { open, taken: () => taken, isOver: () => over };
}

describe('a large artifact', () => {
  it('arrives whole when it is read', async () => {
    const { open } = await serve(5_000);
    let size = 0;

    for await (const part of await open()) size += (part as Buffer).length;

    expect(size).toBe(PIECE * PIECES);
  });

  it('is read from the store only as fast as its reader takes it, and a reader that stops is cut off', async () => {
    const { open, taken, isOver } = await serve(300);

    const answer = await open();
    answer.on('error', () => undefined).pause();
    await expect.poll(isOver, { timeout: 10_000 }).toBe(true);

    expect(taken()).toBeLessThan(PIECES);
    answer.destroy();
  });
});

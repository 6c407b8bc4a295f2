import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { knownTexts } from '../../core/redaction/redaction.ts';
import type { Outcome } from '../../core/decide/step.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { sampleEffect } from '../../nodes/testing/sample-effect-context.ts';
import type { Store } from '../../ports/store.ts';
import { artifactIdOf, createReadArtifacts, safeMediaType } from './artifacts.ts';
import { isMemoryRef } from './memory.ts';

const VALUE = 'sesame-open-now';
const RUN = '0190a000-0000-7000-8000-000000000001';

describe('what an effect resolves', () => {
  it('is hidden in outputs, variables, channels, events and their names', async () => {
    const { ports } = sampleEffect({ secrets: { key: VALUE } });
    await ports.secrets.resolve('key');

    const hidden = ports.hideOutcome({
      ok: true,
      outputs: { [VALUE]: [`a ${VALUE} b`] },
      variables: { v: Buffer.from(VALUE).toString('hex') },
      channels: [{ channel: 'c', value: { deep: VALUE } }],
      events: [{ type: 'log.appended', payload: { message: VALUE } }],
    });

    expect(hidden).toEqual({
      ok: true,
      outputs: { '[REDACTED:key]': ['a [REDACTED:key] b'] },
      variables: { v: '[REDACTED:key]' },
      channels: [{ channel: 'c', value: { deep: '[REDACTED:key]' } }],
      events: [{ type: 'log.appended', payload: { message: '[REDACTED:key]' } }],
    });
  });

  it('is hidden in messages and details of errors', async () => {
    const { ports } = sampleEffect({ secrets: { key: VALUE } });
    await ports.secrets.resolve('key');

    const hidden = ports.hideOutcome({
      ok: false,
      error: {
        code: 'x',
        message: `GET https://api.example/?k=${VALUE}`,
        retryable: false,
        details: { k: VALUE },
      },
    });

    expect(hidden).toMatchObject({
      error: { message: 'GET https://api.example/?k=[REDACTED:key]', details: { k: '[REDACTED:key]' } },
    });
  });

  it('is hidden in streamed text, also where a piece ends in the middle of it', async () => {
    const { ports } = sampleEffect({ secrets: { key: VALUE } });
    await ports.secrets.resolve('key');

    const shown = [
      ports.hideChunk({ chunk: `so ${VALUE.slice(0, 6)}`, isLast: false }),
      ports.hideChunk({ chunk: `${VALUE.slice(6)} it is`, isLast: true, meta: { model: VALUE } }),
      ports.hideChunk({ chunk: 'next', isLast: true }),
    ];

    expect(shown).toEqual([
      { chunk: 'so ', isLast: false },
      { chunk: '[REDACTED:key] it is', isLast: true, meta: { model: '[REDACTED:key]' } },
      { chunk: 'next', isLast: true },
    ]);
  });

  it('is hidden, as is what the run must not show, in memory, artifacts and streamed text', async () => {
    const known = knownTexts(['471', 'a-private-text']);
    const { ports, store } = sampleEffect({
      secrets: { key: VALUE },
      place: { redaction: { inputs: undefined, known, masking: { mode: 'mask' } } },
    });
    await ports.secrets.resolve('key');
    const said = `pin 471, ${VALUE}, a-private-text, ${btoa('x a-private-text')}`;
    const shown = 'pin [REDACTED], [REDACTED:key], [REDACTED], ';

    const kept = await ports.memory.write('notes', { id: '1', content: said });
    const open = await ports.memory.write('notes', { id: '2', content: said, sensitive: false });
    await ports.artifacts.put({ name: 'a', mediaType: 'text/plain', bytes: Buffer.from(said) });
    const chunks = [...said].map((sign) => ports.hideChunk({ chunk: sign, isLast: false }).chunk);

    expect(kept.content).toContain(shown);
    expect(kept.content).not.toContain(btoa('x a-private-text').slice(6));
    expect(open.content).toContain('pin 471, [REDACTED:key], a-private-text');
    const [blob] = (await store.listDocuments('default', 'artifact', RUN, { limit: 1 })).rows;
    const { blobId } = JSON.parse(blob?.body ?? '{}') as { blobId: string };
    const bytes = await store.readBlob('default', RUN, blobId, 0);
    expect(Buffer.from(bytes ?? []).toString()).toBe(kept.content);
    const last = ports.hideChunk({ chunk: '', isLast: true }).chunk;
    expect([...chunks, last].join('')).toBe(kept.content);
    expect(ports.hideOutcome({ ok: true, outputs: { said: '471' } })).toEqual({
      ok: true,
      outputs: { said: '471' },
    });
  });

  it('is hidden as a whole where there is more to look for than can be', async () => {
    const known = { ...knownTexts([]), isOverflowing: true };
    const { ports } = sampleEffect({
      place: { redaction: { inputs: undefined, known, masking: { mode: 'mask' } } },
    });

    expect((await ports.memory.write('notes', { id: '1', content: 'anything' })).content).toBe('[REDACTED]');
    const chunks = ['any', 'thing ', 'at all'].map(
      (chunk, at) => ports.hideChunk({ chunk, isLast: at === 2 }).chunk,
    );
    expect(chunks.join('')).toBe('[REDACTED]');
  });

  it('is not touched by what another effect resolved', async () => {
    const { ports } = sampleEffect({ secrets: { key: VALUE } });
    const outcome: Outcome = { ok: true, outputs: { a: VALUE } };

    expect(ports.hideOutcome(outcome)).toBe(outcome);
  });

  it('fails with credential_unavailable when it is not set, and says how to set it', async () => {
    const { ports } = sampleEffect();

    await expect(ports.secrets.resolve('key')).rejects.toMatchObject({
      code: 'credential_unavailable',
      message: expect.stringContaining('weft secrets set key'),
    });
    await expect(ports.secrets.resolve('no/such id')).rejects.toMatchObject({ code: 'validation_error' });
  });
});

describe('the memory of an effect', () => {
  it('gives back what was written, newest first, in the shape of the protocol', async () => {
    const { ports } = sampleEffect();
    await ports.memory.write('notes', { id: 'a', content: 'first', tags: ['x'] });
    await ports.memory.write('notes', { id: 'b', content: 'second' });

    const listed = await ports.memory.list('notes');

    expect(listed.map((entry) => entry.id)).toEqual(['b', 'a']);
    expect(listed[1]).toEqual({ id: 'a', content: 'first', tags: ['x'], createdAt: expect.any(String) });
  });

  it('holds an entry once, however often the effect is performed', async () => {
    const { ports } = sampleEffect();
    await ports.memory.write('notes', { id: 'a', content: 'x' });
    await ports.memory.write('notes', { id: 'a', content: 'x' });

    expect(await ports.memory.list('notes')).toHaveLength(1);
  });

  it('is seen by its own tenant and under its own reference only', async () => {
    const store = openMemoryStore();
    const ours = sampleEffect({ store, place: { tenant: 'ours' } }).ports;
    const theirs = sampleEffect({ store, place: { tenant: 'theirs' } }).ports;
    await ours.memory.write('notes', { id: 'a', content: 'x' });

    expect(await theirs.memory.list('notes')).toEqual([]);
    expect(await ours.memory.list('notes/')).toEqual([]);
  });

  it('masks secrets in content, tags and ids before it writes', async () => {
    const { ports } = sampleEffect({ secrets: { key: VALUE } });
    await ports.secrets.resolve('key');
    await ports.memory.write('notes', { id: `i-${VALUE}`, content: `c ${VALUE}`, tags: [VALUE] });

    expect(await ports.memory.list('notes')).toMatchObject([
      { id: 'i-[REDACTED:key]', content: 'c [REDACTED:key]', tags: ['[REDACTED:key]'] },
    ]);
  });

  it('forgets what has expired', async () => {
    const { ports } = sampleEffect();
    await ports.memory.write('notes', { id: 'old', content: 'x', expiresAt: Date.now() - 1 });
    await ports.memory.write('notes', { id: 'new', content: 'x', expiresAt: Date.now() + 60_000 });

    expect((await ports.memory.list('notes')).map((entry) => entry.id)).toEqual(['new']);
  });

  it('lists a hundred entries unless told otherwise, by tag if wanted', async () => {
    const { ports } = sampleEffect();
    for (let at = 0; at < 103; at++) {
      await ports.memory.write('notes', { id: `${at}`, content: 'x', tags: at === 0 ? ['rare'] : [] });
    }

    expect(await ports.memory.list('notes')).toHaveLength(100);
    expect(await ports.memory.list('notes', { limit: 101 })).toHaveLength(101);
    expect(await ports.memory.list('notes', { limit: 0 })).toEqual([]);
    expect(await ports.memory.list('notes', { limit: 1, tag: 'rare' })).toMatchObject([{ id: '0' }]);
  });

  it.each(['', 'x'.repeat(257), 'a\0b', 'a\u001bb', 'a\u202eb', 'a\ud800', '../a', 'a/../b', 'a\\..\\b'])(
    'has nothing under the reference %j, and takes nothing',
    async (ref) => {
      const { ports } = sampleEffect();

      expect(isMemoryRef(ref)).toBe(false);
      expect(await ports.memory.list(ref)).toEqual([]);
      await expect(ports.memory.write(ref, { id: 'a', content: 'x' })).rejects.toMatchObject({
        code: 'validation_error',
      });
    },
  );

  it('takes no id and no tag that is no name', async () => {
    const { ports } = sampleEffect();

    for (const text of ['a\0b', 'a\u009b', 'a\u2066', 'a\udc00']) {
      await expect(ports.memory.write('notes', { id: text, content: 'x' })).rejects.toMatchObject({
        code: 'validation_error',
        details: { field: 'id' },
      });
      await expect(
        ports.memory.write('notes', { id: 'a', content: 'x', tags: [text] }),
      ).rejects.toMatchObject({ code: 'validation_error', details: { field: 'tags' } });
    }
    await ports.memory.write('notes', { id: 'a', content: 'anything: \0 \u001b[2J \u202e' });
    expect(await ports.memory.list('notes')).toMatchObject([{ content: 'anything: \0 \u001b[2J \u202e' }]);
  });

  it('refuses an entry that is too large, naming limit and observed', async () => {
    const { ports } = sampleEffect();

    await expect(ports.memory.write('notes', { id: 'a', content: 'x'.repeat(65_537) })).rejects.toMatchObject(
      { code: 'validation_error', details: { limit: 65_536, observed: 65_537 } },
    );
  });
});

/** A reader over a store whose run exists for one tenant. */
function readerOf(store: Store, forkOf?: string) {
  return createReadArtifacts({
    readDocument: store.readDocument,
    listDocuments: store.listDocuments,
    readBlob: store.readBlob,
    readRun: async (runId, tenant) => {
      if (tenant !== 'default') return undefined;
      const row = {
        record: runId === 'fork' && forkOf !== undefined ? { fork: { sourceRunId: forkOf } } : {},
      };
      return row as unknown as Awaited<ReturnType<Store['readRun']>>;
    },
  });
}

const caller = (tenant: string) => ({
  tenant,
  principal: 'p',
  keyId: 'k',
  kind: 'service' as const,
  test: true,
  scopes: new Set<string>(),
});

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

describe('an artifact', () => {
  const bytes = Buffer.alloc(700_000, 'artifact ');

  async function* trickle(whole: Uint8Array): AsyncIterable<Uint8Array> {
    for (let at = 0; at < whole.length; at += 10_007) yield whole.subarray(at, at + 10_007);
  }

  it('comes back byte by byte, with its size and digest (W-30)', async () => {
    const { ports, store } = sampleEffect();

    const ref = await ports.artifacts.put({
      name: 'out.bin',
      mediaType: 'text/plain',
      bytes: trickle(bytes),
    });
    const read = await readerOf(store).open(caller('default'), RUN, ref.artifactId);

    expect(ref).toEqual({
      artifactId: 'sample:0:out.bin',
      mediaType: 'text/plain',
      size: bytes.length,
      digest: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(read).toMatchObject({ ...ref, name: 'out.bin', nodeKey: 'sample' });
    expect((await collect(read?.read() ?? trickle(Buffer.alloc(0)))).equals(bytes)).toBe(true);
  });

  it('may be empty', async () => {
    const { ports, store } = sampleEffect();

    const ref = await ports.artifacts.put({ name: 'e', mediaType: 'text/plain', bytes: new Uint8Array(0) });
    const read = await readerOf(store).open(caller('default'), RUN, ref.artifactId);

    expect(ref.size).toBe(0);
    expect(await collect(read?.read() ?? trickle(bytes))).toHaveLength(0);
  });

  it('is invisible to other tenants, under other ids and while it is written', async () => {
    const { ports, store } = sampleEffect();
    const reader = readerOf(store);
    const seen: unknown[] = [];
    async function* watching(): AsyncIterable<Uint8Array> {
      yield bytes;
      seen.push(await reader.open(caller('default'), RUN, 'sample:0:out'));
    }

    await ports.artifacts.put({ name: 'out', mediaType: 'x/y', bytes: watching() });

    expect(seen).toEqual([undefined]);
    expect(await reader.open(caller('other'), RUN, 'sample:0:out')).toBeUndefined();
    expect(await reader.list(caller('other'), RUN, { limit: 5 })).toBeUndefined();
    expect(await reader.open(caller('default'), RUN, 'sample:1:out')).toBeUndefined();
    expect(await reader.list(caller('default'), RUN, { limit: 5 })).toMatchObject({
      rows: [{ artifactId: 'sample:0:out', name: 'out' }],
    });
  });

  it('that was cut off half-way leaves nothing to be seen, and can be written again (W-32)', async () => {
    const store = openMemoryStore();
    async function* breaks(): AsyncIterable<Uint8Array> {
      yield bytes;
      throw new Error('the line went dead');
    }
    const put = (source: AsyncIterable<Uint8Array>) =>
      sampleEffect({ store }).ports.artifacts.put({ name: 'out', mediaType: 'x/y', bytes: source });

    await expect(put(breaks())).rejects.toThrow('the line went dead');
    const hidden = await readerOf(store).open(caller('default'), RUN, 'sample:0:out');
    const again = await put(trickle(Buffer.from('other content')));

    expect(hidden).toBeUndefined();
    expect(again.size).toBe(13);
  });

  it('never changes: an effect that is performed again gets the one that is there (W-31)', async () => {
    const store = openMemoryStore();
    const put = (text: string, attempt: number) =>
      sampleEffect({ store, place: { attempt } }).ports.artifacts.put({
        name: 'out',
        mediaType: 'x/y',
        bytes: Buffer.from(text),
      });

    const first = await put('first', 0);

    expect(await put('second', 0)).toEqual(first);
    expect(await put('second', 1)).toMatchObject({ artifactId: 'sample:1:out', size: 6 });
  });

  it('holds no secret of the effect, also where it lies across two pieces', async () => {
    const { ports, store } = sampleEffect({ secrets: { key: VALUE } });
    await ports.secrets.resolve('key');
    const long = Buffer.concat([Buffer.alloc(256 * 1024 - 5, '.'), Buffer.from(VALUE), Buffer.from('!')]);

    const ref = await ports.artifacts.put({ name: 'out', mediaType: 'x/y', bytes: trickle(long) });
    const read = await readerOf(store).open(caller('default'), RUN, ref.artifactId);

    expect((await collect(read?.read() ?? trickle(long))).toString('latin1').slice(256 * 1024 - 5)).toBe(
      '[REDACTED:key]!',
    );
  });

  it('has no type that repeats a secret, or what the run must not show', async () => {
    const redaction = {
      inputs: undefined,
      known: knownTexts(['Canary']),
      masking: { mode: 'mask' },
    } as const;
    const { ports } = sampleEffect({ secrets: { key: VALUE }, place: { redaction } });
    await ports.secrets.resolve('key');
    const typeOf = async (name: string, mediaType: string): Promise<string> =>
      (await ports.artifacts.put({ name, mediaType, bytes: Buffer.from('x') })).mediaType;

    expect(await typeOf('a', 'text/Canary')).toBe('application/octet-stream');
    expect(await typeOf('b', `text/x.${VALUE}`)).toBe('application/octet-stream');
    expect(await typeOf('c', 'text/plain; charset=Canary')).toBe('text/plain');
  });

  it('is refused when it is too large, too long a name, or named twice', async () => {
    const { ports } = sampleEffect();
    const put = (name: string, size: number) =>
      ports.artifacts.put({ name, mediaType: 'x/y', bytes: Buffer.alloc(size) });

    await expect(put('big', 64 * 1024 * 1024 + 1)).rejects.toMatchObject({
      code: 'artifact_too_large',
      details: { limit: 64 * 1024 * 1024 },
    });
    await put('twice', 1);
    await expect(put('twice', 1)).rejects.toMatchObject({ code: 'validation_error' });
    await expect(put('x'.repeat(201), 1)).rejects.toMatchObject({ code: 'validation_error' });
    await expect(put('a\nb', 1)).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('of the run a fork came from is found through the fork', async () => {
    const { ports, store } = sampleEffect();
    const ref = await ports.artifacts.put({ name: 'out', mediaType: 'x/y', bytes: Buffer.from('x') });

    const found = await readerOf(store, RUN).open(caller('default'), 'fork', ref.artifactId);

    expect(found).toMatchObject(ref);
  });

  it('has an id that is safe in a URL and the same each time', () => {
    expect(artifactIdOf('work[2]', 1, 'résumé: a/b')).toBe('work~5B2~5D:1:r~C3~A9sum~C3~A9~3A~20a~2Fb');
    expect(artifactIdOf('n'.repeat(600), 0, 'x')).toHaveLength(512);
    expect(artifactIdOf('n'.repeat(600), 0, 'x')).not.toBe(artifactIdOf('n'.repeat(600), 0, 'y'));
  });

  it.each([
    ['text/html; charset=UTF-8', 'text/html; charset=utf-8'],
    ['IMAGE/PNG', 'image/png'],
    ['text/plain; boundary=x\r\nevil: 1', 'application/octet-stream'],
    ['no type', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('of the media type %j is served as %s', (given, served) => {
    expect(safeMediaType(given)).toBe(served);
  });
});

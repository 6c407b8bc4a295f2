import { describe, expect, it } from 'vitest';
import { openBundleFile, readBundleText } from './bundle-file.ts';

const bundle = {
  bundleVersion: '1',
  run: { runId: 'r', workflowId: 'w', status: 'completed' },
  events: [
    { sequence: 0, type: 'run.started', timestamp: '2026-01-01T00:00:00.000Z', payload: {} },
    { seq: 1, type: 'run.completed', timestamp: '2026-01-01T00:00:01.000Z', data: { outputs: {} } },
  ],
};

const read = (document: unknown) => readBundleText(JSON.stringify(document), undefined);

describe('a bundle that is dropped into the page', () => {
  it('is read under both names that hosts use', async () => {
    const opened = await read(bundle);

    expect(opened).toMatchObject({ runId: 'r', workflowId: 'w', isPartial: false, digest: 'unknown' });
    expect(opened.events[1]).toMatchObject({ sequence: 1, payload: { outputs: {} } });
  });

  it('may be packed', async () => {
    const packed = new Blob([JSON.stringify(bundle)]).stream().pipeThrough(new CompressionStream('gzip'));

    expect((await openBundleFile(await new Response(packed).blob())).runId).toBe('r');
  });

  it.each([
    ['text', 'It is not a debug bundle: it is not a JSON object.'],
    [{ ...bundle, bundleVersion: '2' }, 'bundleVersion'],
    [{ ...bundle, run: { runId: 'r' } }, 'run.workflowId is missing'],
    [{ ...bundle, events: [bundle.events[1]] }, 'Its log has a gap: event 0 has the sequence 1.'],
    [
      {
        ...bundle,
        events: [
          { ...bundle.events[1], seq: 0 },
          { ...bundle.events[0], sequence: 1 },
        ],
      },
      'continues after',
    ],
    [{ ...bundle, events: [7] }, 'Event 0 has no sequence or no type.'],
  ])('is refused with the reason: %j', async (document, reason) => {
    await expect(read(document)).rejects.toThrow(reason);
  });

  it('is refused when it was changed after it was written', async () => {
    const digestOf = (text: string) => Promise.resolve(`digest of ${text.length}`);
    const whole = JSON.stringify({ ...bundle, weft: { digest: 'another' } });

    await expect(readBundleText(whole, digestOf)).rejects.toThrow('Its digest does not fit');
  });
});

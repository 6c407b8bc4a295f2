import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicKeyText } from '../../crypto/ed25519.ts';
import type { StoredAuditEntry } from '../../ports/store.ts';
import { type AuditCheckpoint, makeCheckpoint, readCheckpoint, sealOf } from './checkpoint.ts';
import { createExportVerifier, type ExportVerification } from './exported-log.ts';
import { type ChainTip, GENESIS, linkEntries, tipAfter } from './link-batch.ts';
import type { Seal } from './seal.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519').privateKey;

function entry(id: number): StoredAuditEntry {
  return { id, at: 1_000 + id, tenant: 'default', actor: 'alice', action: 'key.create', target: `k${id}` };
}

const ENTRIES = [1, 2, 4, 7, 8, 9, 12].map(entry);

/** An export in batches of three with a checkpoint after each. */
function exported(entries: readonly StoredAuditEntry[], key = privateKey): JsonObject[] {
  const checkpoints: AuditCheckpoint[] = [];
  const batches: JsonObject[] = [];
  let tip: ChainTip = GENESIS;
  for (let at = 0; at < entries.length; at += 3) {
    const batch = linkEntries(tip, entries.slice(at, at + 3));
    tip = tipAfter(batch);
    batches.push({ kind: 'batch', ...plain(batch) });
    checkpoints.push(makeCheckpoint(checkpoints.at(-1), tip.frontier, 5, key));
  }
  const head = { kind: 'head', format: 'weft-audit', version: 2, publicKey: publicKeyText(key) };
  const lines = [
    head,
    ...checkpoints.map((each) => ({ kind: 'checkpoint', ...plain(each) })),
    ...batches,
    ...entries.map((each) => ({ kind: 'entry', ...plain(each) })),
  ];
  return [...lines, { kind: 'end', lines: lines.length }];
}

function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function verified(lines: readonly JsonObject[], trusted?: string, anchor?: Seal): ExportVerification {
  const verifier = createExportVerifier({ publicKey: trusted, anchor });
  for (const line of lines) verifier.line(JSON.stringify(line));
  return verifier.end();
}

/** Keeps the count at the end right, so that only what was tampered with is found. */
function recounted(lines: readonly JsonObject[]): JsonObject[] {
  const whole = lines.filter(({ kind }) => kind !== 'end');
  return [...whole, { kind: 'end', lines: whole.length }];
}

const isEntry = (line: JsonObject): boolean => line['kind'] === 'entry';

describe('an exported log', () => {
  it('is valid as it was written, with gaps in its ids (U-1)', () => {
    expect(verified(exported(ENTRIES))).toMatchObject({
      fromSeq: 0,
      toSeq: 6,
      chainValid: true,
      checkpointsValid: true,
      anomalies: [],
      entries: 7,
      pending: 0,
      problems: [],
    });
  });

  it('names the entry after a changed one, and the signatures still hold', () => {
    const lines = exported(ENTRIES).map((line) =>
      line['id'] === 4 && isEntry(line) ? { ...line, actor: 'mallory' } : line,
    );

    const found = verified(lines);

    expect(found).toMatchObject({ chainValid: false, checkpointsValid: true });
    expect(found.anomalies.map(({ atSeq }) => atSeq)).toEqual([3]);
  });

  it('finds any one change, removal or insertion of an entry', () => {
    const lines = exported(ENTRIES);
    const places = lines.flatMap((line, index) => (isEntry(line) ? [index] : []));
    const place = fc.constantFrom(...places);
    const act = fc.constantFrom(
      'remove',
      'insert',
      'at',
      'tenant',
      'actor',
      'action',
      'target',
      'details',
      'id',
    );

    fc.assert(
      fc.property(place, act, (index, kind) => {
        const line = lines[index] ?? {};
        const tampered = [...lines];
        if (kind === 'remove') tampered.splice(index, 1);
        else if (kind === 'insert') tampered.splice(index, 0, { ...line, id: Number(line['id']) - 1 });
        else
          tampered[index] = {
            ...line,
            [kind]: kind === 'at' || kind === 'id' ? -1 : kind === 'details' ? {} : 'x',
          };

        expect(verified(recounted(tampered)).chainValid).toBe(false);
      }),
    );
  });

  it('counts an entry that was put behind the last link as pending, not as proven', () => {
    const lines = exported(ENTRIES);
    lines.splice(-1, 0, { kind: 'entry', ...plain(entry(13)) });

    expect(verified(recounted(lines))).toMatchObject({ entries: 8, pending: 1, toSeq: 6, chainValid: true });
  });

  it('does not believe a chain that was rewritten as a whole, because only the host can sign it', () => {
    const forged = exported(
      ENTRIES.map((each) => ({ ...each, actor: 'mallory' })),
      stranger,
    );

    expect(verified(forged, publicKeyText(privateKey))).toMatchObject({
      chainValid: false,
      checkpointsValid: false,
    });
    expect(verified(forged)).toMatchObject({ chainValid: true, publicKey: publicKeyText(stranger) });
  });

  it('does not believe rewritten links under the signatures of the old ones', () => {
    const rewritten = exported(ENTRIES.map((each) => ({ ...each, actor: 'mallory' })));
    const signed = exported(ENTRIES).filter(({ kind }) => kind === 'checkpoint');
    const lines = [
      ...rewritten.slice(0, 1),
      ...signed,
      ...rewritten.filter(({ kind }) => kind !== 'checkpoint').slice(1),
    ];

    expect(verified(recounted(lines))).toMatchObject({
      chainValid: false,
      checkpointsValid: false,
      anomalies: [],
    });
  });

  it.each([
    ['another time', (line: JsonObject) => ({ ...line, ts: 6 })],
    [
      'another one before it',
      (line: JsonObject) => ({
        ...line,
        weft: { ...(line['weft'] as JsonObject), previousRoot: '0'.repeat(64) },
      }),
    ],
    ['no seal', ({ weft: _weft, ...line }: JsonObject) => line],
  ])('does not believe a checkpoint with %s, though its root is signed', (_, change) => {
    const lines = exported(ENTRIES).map((line) => (line['number'] === 1 ? change(line) : line));

    expect(verified(lines)).toMatchObject({ chainValid: false });
  });

  it('holds what was anchored, and is not believed when its end was cut off with everything that tells', () => {
    const lines = exported(ENTRIES);
    const cut = exported(ENTRIES.slice(0, 3));
    const second = readCheckpoint(lines[2], 1);
    const anchor = second && sealOf(second);

    expect(verified(lines, undefined, anchor)).toMatchObject({ chainValid: true, problems: [] });
    expect(verified(cut)).toMatchObject({ chainValid: true });
    expect(verified(cut, undefined, anchor)).toMatchObject({
      chainValid: false,
      problems: [
        'it does not hold what was anchored (checkpoint 1 up to sequence 5, of 1970-01-01T00:00:00.005Z)',
      ],
    });
  });

  it('says when the file was cut, or holds what it should not', () => {
    const lines = exported(ENTRIES);

    expect(verified(lines.slice(0, -1)).problems).toEqual(['the file has no end; it was cut']);
    expect(verified(lines.filter((_, index) => index !== 2)).chainValid).toBe(false);
    expect(verified([...lines, { kind: 'entry' }]).problems).toEqual([
      `line ${lines.length + 1} stands behind the end`,
    ]);
    expect(verified([]).chainValid).toBe(false);
  });
});

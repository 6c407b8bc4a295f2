import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { openMemoryStore } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { fixKeys } from './cluster-keys.ts';

const keys = { secretsKey: randomBytes(32), auditKey: generateKeyPairSync('ed25519').privateKey };

describe('the keys of processes on one database', () => {
  it('are fixed although the database loses a connection at the start', async () => {
    let failures = 2;
    const beforeCommit = (): void => {
      failures -= 1;
      if (failures >= 0) throw new Error('the connection is lost');
    };
    const store = openMemoryStore({ faults: { beforeCommit } });

    await fixKeys(store, keys);

    await expect(fixKeys(store, keys)).resolves.toBeUndefined();
    expect(failures).toBeLessThan(0);
  });

  it('cannot be others than those of the first process', async () => {
    const store = openMemoryStore();
    await fixKeys(store, keys);

    const other = fixKeys(store, { ...keys, secretsKey: randomBytes(32) });

    await expect(other).rejects.toMatchObject({ code: 'cluster_key_differs' });
  });
});

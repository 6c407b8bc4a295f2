import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeContract } from '@weft/engine/store-contract';
import { afterAll } from 'vitest';
import { openSqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'weft-sqlite-'));
let path = '';
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeContract('SQLite', {
  async open(options) {
    path = join(folder, `${(count += 1)}.db`);
    return openSqliteStore({ ...options, path });
  },
  async reopen(store, options) {
    await store.close();
    return openSqliteStore({ ...options, path });
  },
});

import { storeContract } from '@weft/engine/store-contract';
import { openSqliteStore } from './index.ts';
import { testFolder } from './testing/sqlite-test-folder.ts';

const { newPath } = testFolder();
let path = '';

storeContract('SQLite', {
  async open(options) {
    path = newPath();
    return openSqliteStore({ ...options, path });
  },
  async reopen(store, options) {
    await store.close();
    return openSqliteStore({ ...options, path });
  },
});

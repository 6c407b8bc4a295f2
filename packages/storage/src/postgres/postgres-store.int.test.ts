import { storeContract } from '@weft/engine/store-contract';
import { openPostgresStore } from './index.ts';
import { testServer } from './testing/postgres-test-server.ts';

const { server, newSchema } = testServer();
let schema = '';

storeContract('PostgreSQL', {
  async open(options) {
    schema = newSchema();
    return openPostgresStore({ ...options, url: server().url, schema });
  },
  async reopen(store, options) {
    await store.close();
    return openPostgresStore({ ...options, url: server().url, schema });
  },
});

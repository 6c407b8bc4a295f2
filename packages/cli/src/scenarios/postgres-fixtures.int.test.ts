import { testServer } from '@weft/storage/postgres-test-server';
import { testOn } from '../testing/store-under-test.ts';

/** The tests of the fixtures again, on PostgreSQL. */
const { server, newSchema } = testServer();
testOn({ flags: () => ['--store', server().url, '--store-schema', newSchema()], killRounds: 0 });

await import('./fixtures.int.test.ts');
await import('./agent-fixtures.int.test.ts');

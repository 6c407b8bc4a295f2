import { testServer } from '@weft/storage/postgres-test-server';
import { testOn } from '../testing/store-under-test.ts';

/** The kill test again, on PostgreSQL, with deadlines that fit a host that lives for a second. */
const { server } = testServer();
const DEADLINES = ['--claim-ttl-ms', '1500', '--heartbeat-ms', '300', '--poll-ms', '250'];
testOn({ flags: () => ['--store', server().url, ...DEADLINES], killRounds: 6 });

await import('./kill.int.test.ts');

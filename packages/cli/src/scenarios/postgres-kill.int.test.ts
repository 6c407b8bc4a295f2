import { testServer } from '@weft/storage/postgres-test-server';
import { testKills } from '../testing/kill-scenario.ts';

/** On PostgreSQL, with deadlines that fit a host that lives for a second. */
const { server } = testServer();
const DEADLINES = ['--claim-ttl-ms', '1500', '--heartbeat-ms', '300', '--poll-ms', '250'];

testKills({ flags: () => ['--store', server().url, ...DEADLINES], killRounds: 6 });

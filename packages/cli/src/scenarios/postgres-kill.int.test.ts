import { testServer } from '@weft/storage/postgres-test-server';
import { testKills } from '../testing/kill-scenario.ts';

/** On PostgreSQL, with deadlines that fit a host that lives for a second. */
const { server } = testServer();
const DEADLINES = { WEFT_CLAIM_TTL_MS: '1500', WEFT_HEARTBEAT_MS: '300', WEFT_POLL_MS: '250' };

testKills({ flags: () => ['--store', server().url], env: DEADLINES, killRounds: 6 });

import { testServer } from '@weft/storage/postgres-test-server';
import { vi } from 'vitest';
import { testOn } from '../testing/store-under-test.ts';

/** The kill test again, on PostgreSQL, with deadlines that fit a host that lives for a second. */
const { server } = testServer();
vi.stubEnv('WEFT_CLAIM_TTL_MS', '1500').stubEnv('WEFT_HEARTBEAT_MS', '300').stubEnv('WEFT_POLL_MS', '250');
testOn({ flags: () => ['--store', server().url], killRounds: 6 });

await import('./kill.int.test.ts');

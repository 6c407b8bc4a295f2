import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { testServer } from '@weft/storage/postgres-test-server';
import { testWorkerKills } from '../testing/worker-kill-scenario.ts';

/** Runs are created at one process, and workers are connected to the other. */
const { server } = testServer();

testWorkerKills({
  hosts: 2,
  flags: () => ['--store', server().url],
  env: {
    WEFT_STORE_SCHEMA: 'worker_kill',
    WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
    WEFT_AUDIT_KEY: generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  },
  rounds: Number(process.env['WEFT_KILL_ROUNDS'] ?? 10),
});

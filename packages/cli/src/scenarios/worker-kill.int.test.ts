import { testWorkerKills } from '../testing/worker-kill-scenario.ts';

testWorkerKills({ hosts: 1, flags: () => [], rounds: Number(process.env['WEFT_KILL_ROUNDS'] ?? 10) });

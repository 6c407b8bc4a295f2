/**
 * `npm run mutants -- --launch COMMAND [--only TEXT] [--named]`: breaks a correct host in one way at a time, and says which checks
 * notice. Ends with 1 when the checks that are meant for a mutant do not catch it.
 */
import { parseArgs } from 'node:util';
import { CHECKS } from '../areas/checks.ts';
import { findHost } from '../suite/find-host.ts';
import { REQUEST_TIMEOUT_MS } from '../suite/host-client.ts';
import { createLauncher } from '../suite/launch-command.ts';
import { makeKeys } from './made-keys.ts';
import { MUTANTS } from '../areas/mutants.ts';
import { type MutantTrial, tryMutant } from './try-mutants.ts';

const USAGE = `npm run mutants [-- FLAGS]: breaks a correct host in one way at a time; every check sees each of them

  --launch COMMAND   starts the host, with {port} and {data} filled in (default: this clone's weft serve --conformance)
  --only TEXT        only mutants whose id holds this text
  --named            only the checks that are meant for a mutant, as the tests do

Examples:
  npm run mutants -- --only streams/
  npm run mutants -- --named`;

const { values: flags } = parseArgs({
  options: {
    launch: { type: 'string' },
    only: { type: 'string', default: '' },
    named: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const mutants = MUTANTS.filter(({ id }) => id.includes(flags.only));
if (flags.help) process.stdout.write(`${USAGE}\n`);
else if (flags.launch === undefined || mutants.length === 0) {
  process.stderr.write(`--launch is missing, or --only fits no mutant.\n\n${USAGE}\n`);
  process.exitCode = 2;
} else process.exitCode = await tryAll(flags.launch);

async function tryAll(command: string): Promise<number> {
  const launcher = await createLauncher(command);
  try {
    const { url, key } = await launcher.startFirst();
    const trial: MutantTrial = {
      url,
      key,
      discovery: await findHost(url, key),
      keys: await makeKeys(url, key),
      peers: {},
      policies: {},
      launcher: undefined,
      concurrency: 4,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    };
    let missed = 0;
    for (const mutant of mutants) {
      const { isCaught, noticed, said } = await tryMutant(mutant, trial, flags.named ? undefined : CHECKS);
      process.stdout.write(`${isCaught ? 'caught' : 'MISSED'}  ${mutant.id}: ${mutant.breaks}\n`);
      if (!flags.named) process.stdout.write(`        noticed by ${noticed.join(', ') || 'none'}\n`);
      if (isCaught) continue;
      missed += 1;
      process.stdout.write(`        ${said.join('\n        ')}\n`);
    }
    process.stdout.write(`${mutants.length} mutants, ${missed} missed\n`);
    return missed === 0 ? 0 : 1;
  } finally {
    await launcher.stop();
  }
}

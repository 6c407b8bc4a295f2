/**
 * `npm run hostile -- [--store sqlite|postgres|both] [--only TEXT]`: one tenant does what it can to a host while another one works.
 * Ends with 1 when the other one lost a write, or had to wait for longer than it may.
 */
import { flagsOf } from '../command-line.ts';
import { CORPUS } from './corpus.ts';
import { breachesOf, LIMITS, renderHostile } from './report.ts';
import { runHostile } from './run.ts';

const USAGE = `npm run hostile [-- FLAGS]: a hostile tenant against a host on which another tenant works

  --store sqlite|postgres|both   default both
  --only TEXT                    only cases whose kind or name holds this text
  --list                         names the cases and does nothing

The other tenant must lose nothing, and wait at most ${LIMITS.p99} ms (p99) and ${LIMITS.max} ms (maximum) for an answer.

Examples:
  npm run hostile
  npm run hostile -- --store sqlite --only expression`;

const flags = flagsOf(USAGE, {
  store: { type: 'string', default: 'both' },
  only: { type: 'string' },
  list: { type: 'boolean' },
});

const stores = (['sqlite', 'postgres'] as const).filter(
  (store) => flags.store === 'both' || flags.store === store,
);
const corpus = CORPUS.filter(({ kind, name }) => `${kind}: ${name}`.includes(flags.only ?? ''));
if (stores.length === 0 || corpus.length === 0) {
  process.stderr.write(`--store is sqlite, postgres or both; --only must fit a case (--list).\n\n${USAGE}\n`);
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

if (flags.list === true) for (const { kind, name } of corpus) process.stdout.write(`${kind}: ${name}\n`);
else {
  for (const store of stores) {
    const result = await runHostile({ store, corpus, note: (line) => process.stderr.write(`${line}\n`) });
    process.stdout.write(`\n${renderHostile(result)}\n`);
    const breaches = breachesOf(result);
    for (const breach of breaches.slice(0, 50)) process.stdout.write(`! ${breach}\n`);
    process.stdout.write(
      breaches.length === 0 ? 'nothing lost, no tenant delayed\n' : `${breaches.length} breaches\n`,
    );
    if (breaches.length > 0) process.exitCode = 1;
  }
}

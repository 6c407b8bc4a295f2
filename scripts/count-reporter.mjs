import { EXTRA, OUTSIDE_DATA } from './outside-data.mjs';

/** A vitest reporter whose last line is the count alone, for people and scripts that read only the end: "12 passed, 0 failed". */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    let extra = 0;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1;
        if (test.fullName.includes(EXTRA)) extra += 1;
      }
      // A file or a hook that fails outside every test has no test of its own to count.
      counts.failed += errorsOutsideTests(module);
    }
    const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
    // At exit, so that it comes after the default reporter's summary.
    process.once('exit', () =>
      process.stdout.write(
        `${extraText(extra)}\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`,
      ),
    );
  }
}

function extraText(extra) {
  return Object.keys(OUTSIDE_DATA).length === 0
    ? 'no extra checks: the data of others that they compare with is not next to this checkout'
    : `${extra} extra checks with data of others that is next to this checkout`;
}

function errorsOutsideTests(module) {
  let count = module.errors().length;
  for (const suite of module.children.allSuites()) count += suite.errors().length;
  return count;
}

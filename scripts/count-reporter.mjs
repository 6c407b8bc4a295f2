import { appendFileSync } from 'node:fs';
import { EXTRA } from './outside-data.mjs';

/** A vitest reporter that adds what it has counted to the file of test.mjs, as one line. */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, extra: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1;
        if (test.fullName.includes(EXTRA)) counts.extra += 1;
      }
      // A file or a hook that fails outside every test has no test of its own to count.
      counts.failed += errorsOutsideTests(module);
    }
    appendFileSync(process.env.TEST_COUNTS_FILE, `${JSON.stringify(counts)}\n`);
  }
}

function errorsOutsideTests(module) {
  let count = module.errors().length;
  for (const suite of module.children.allSuites()) count += suite.errors().length;
  return count;
}

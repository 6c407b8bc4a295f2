import { appendFileSync } from 'node:fs';
import { EXTRA } from './outside-data.mjs';

/** A vitest reporter that adds what it has counted, and what failed, to the file of test.mjs, as one line. */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, extra: 0 };
    const failures = unhandledErrors.map(() => 'an error outside every test');
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state] += 1;
        if (state === 'failed') failures.push(`${module.relativeModuleId} > ${test.fullName}`);
        if (test.fullName.includes(EXTRA)) counts.extra += 1;
      }
      // A file or a hook that fails outside every test has no test of its own to count.
      const outside = errorsOutsideTests(module);
      counts.failed += outside;
      if (outside > 0) failures.push(`${module.relativeModuleId}, outside every test`);
    }
    appendFileSync(process.env.TEST_COUNTS_FILE, `${JSON.stringify({ counts, failures })}\n`);
  }
}

function errorsOutsideTests(module) {
  let count = module.errors().length;
  for (const suite of module.children.allSuites()) count += suite.errors().length;
  return count;
}

/** A vitest reporter whose last line is the count alone, for people and scripts that read only the end: "12 passed, 0 failed". */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file or a hook that fails outside every test has no test of its own to count.
      counts.failed += errorsOutsideTests(module);
    }
    const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
    // At exit, so that it comes after the default reporter's summary.
    process.once('exit', () =>
      process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`),
    );
  }
}

function errorsOutsideTests(module) {
  let count = module.errors().length;
  for (const suite of module.children.allSuites()) count += suite.errors().length;
  return count;
}

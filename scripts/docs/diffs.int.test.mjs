import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../bootstrap.mjs';
import { readPage } from './markdown.mjs';

const AT_MOST = {
  'An event type': 4,
  'An interrupt kind': 4,
  'An endpoint through all layers': 8,
  'A flag': 1,
};

/** The files of a diff, each with the lines that its hunks expect to find. */
function filesOf(diff) {
  return diff
    .split(/^--- /m)
    .slice(1)
    .map((part) => {
      const [, before, after] = /^(\S+)\n\+\+\+ b\/(\S+)\n/.exec(part);
      const hunks = part
        .split(/^@@\n/m)
        .slice(1)
        .map((hunk) =>
          hunk
            .trimEnd()
            .split('\n')
            .filter((line) => !line.startsWith('+'))
            .map((line) => line.slice(1)),
        );
      return { file: after, isNew: before === '/dev/null', hunks };
    });
}

const sections = readPage('docs/contributing/diffs.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.split(':', 1)[0],
    files: filesOf(/^```diff\n([\s\S]*?)^```/m.exec(section)[1]),
  }));

describe('the changes that are shown as diffs', () => {
  it('are those that people make most', () => {
    expect(sections.map(({ title }) => title)).toEqual(Object.keys(AT_MOST));
  });

  it.each(sections)('touch no more files than promised: $title', ({ title, files }) => {
    expect(new Set(files.map(({ file }) => file)).size).toBe(AT_MOST[title]);
  });

  it.each(sections.flatMap(({ files }) => files))('find their place in $file', ({ file, isNew, hunks }) => {
    expect(existsSync(join(ROOT, file))).toBe(!isNew);
    const text = isNew ? '' : `\n${readFileSync(join(ROOT, file), 'utf8')}`;

    for (const lines of hunks) if (!isNew) expect(text).toContain(`\n${lines.join('\n')}\n`);
  });
});

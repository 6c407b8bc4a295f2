import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles } from '../../packages/cli/src/new-project/project-files.ts';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../bootstrap.mjs';
import { ownNumbers, readCitations, readInvariants, renderInvariants } from './invariants.mjs';
import { brokenLinks, headings, missingPaths, PAGES, proseOf, readPage } from './markdown.mjs';
import { PACKAGES, sourceFiles } from './source-files.mjs';

const RECORDS = PAGES.filter((page) => /^docs\/adr\/\d/.test(page));

/** What the linter lets a package import, over all folders of the package. */
function allowedImports() {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8'));
  const allowed = new Map(PACKAGES.map((name) => [name, new Set()]));
  for (const { files, rules } of overrides) {
    const owners = files.map((file) => /^packages\/([a-z]+)\/src\/(?!.*(?:test|testing))/.exec(file)?.[1]);
    const denied = rules['no-restricted-imports']?.[1].patterns.map(
      ({ regex }) => regex?.match(/^\^@weft\/\(([a-z|]+)\)/)?.[1],
    );
    const names = denied?.find((found) => found !== undefined)?.split('|');
    for (const owner of owners) {
      if (owner === undefined || names === undefined) continue;
      for (const name of PACKAGES) if (name !== owner && !names.includes(name)) allowed.get(owner).add(name);
    }
  }
  return new Map([...allowed].map(([name, others]) => [name, PACKAGES.filter((other) => others.has(other))]));
}

/** The table of packages in ARCHITECTURE.md. */
function describedImports() {
  const rows = readPage('ARCHITECTURE.md').matchAll(/^\| \[([a-z]+)\]\(packages\/\1\) +\| ([^|]+?) +\|/gm);
  return new Map(
    [...rows].map(([, name, imports]) => [
      name,
      imports === 'nothing of ours' ? [] : imports.split(', ').sort(),
    ]),
  );
}

/** Name the role (client, holder, worker, operator), or say what happens to it. NOBODY is a user of Unix. */
const PRIVATE_WORDS =
  /\b([nN]obody|[sS]omebody|[aA]nybody|[eE]verybody|[wW]hoever|[aA]new|[bB]eside|[uU]nder\s+way|([gG]o|goes|going|went)\s+on|(is|are|was|were|be|been)\s+told(?! (apart|from)))\b/g;

/** What `weft new` makes, for pages that begin with it. */
const SAMPLES = ['examples/workflows', 'examples/agent-pack/workflows'];
const OF_NEW_PROJECTS = projectFiles({ name: 'demo', cli: '-', sdk: '-', typebox: '-' });

describe('the pages', () => {
  it('link only to files and headings that exist', () => {
    expect(PAGES.flatMap(brokenLinks)).toEqual([]);
  });

  it('name only files of packages that exist, unless a record is superseded', () => {
    const current = PAGES.filter(
      (page) => page !== 'CHANGELOG.md' && !/^Status: superseded/m.test(readPage(page)),
    );

    expect(current.flatMap(missingPaths)).toEqual([]);
  });

  it('pass the samples only inputs that these declare', () => {
    const commands = PAGES.flatMap((page) => [
      ...readPage(page).matchAll(/weft run ([\w-]+)((?: --input (?:'[^']*'|\S+))+)/g),
    ]);
    const undeclared = commands.flatMap(([command, id, inputs]) => {
      const { variables } = JSON.parse(
        OF_NEW_PROJECTS[`workflows/${id}.json`] ??
          readFileSync(SAMPLES.map((path) => join(ROOT, path, `${id}.json`)).find(existsSync), 'utf8'),
      );
      const declared = variables.map(({ name }) => name);
      const names = [...inputs.matchAll(/--input '?(\w+)=/g)].map(([, name]) => name);
      return names.filter((name) => !declared.includes(name)).map((name) => `${command}: ${name}`);
    });

    expect(commands.length).toBeGreaterThan(10);
    expect(undeclared).toEqual([]);
  });

  it('say which node types there are', () => {
    const known = [...readPage('docs/reference/nodes.md').matchAll(/^\| \[`([^`]+)`\]/gm)].map(
      ([, type]) => type,
    );
    const guide = readPage('docs/guide/writing-workflows.md');

    expect(known.length).toBeGreaterThan(0);
    expect(known.filter((type) => !type.includes('conformance') && !guide.includes(`\`${type}\``))).toEqual(
      [],
    );
  });
});

describe('commands', () => {
  it('are nowhere those of the package that is called weft, which is not ours', () => {
    const { status } = spawnSync('git', ['grep', '--untracked', '--quiet', '-E', 'npx +weft\\b'], {
      cwd: ROOT,
    });

    expect(status).toBe(1);
  });

  it('stand on the pages as a person in a clone types them', () => {
    const bare = PAGES.filter((page) => !/^docs\/(adr|contributing|reference)\//.test(page)).flatMap((page) =>
      [...readPage(page).matchAll(/^ *```[\s\S]*?^ *```/gm)].flatMap(
        ([block]) => block.match(/(?<![\w./@-])weft (?!is )[a-z]+/g) ?? [],
      ),
    );

    expect(bare).toEqual([]);
  });
});

describe('the pages that people write', () => {
  const generated = /^docs\/(reference\/|bench\.md)|^CHANGELOG/;
  const avoided = /\b(bell|haste|obituary|(?<!there )is none|hears? of)\b/gi;

  it.each(PAGES.filter((page) => !generated.test(page)))('%s uses the words of the glossary', (page) => {
    const prose = proseOf(page);
    expect([...prose.matchAll(avoided), ...prose.matchAll(PRIVATE_WORDS)].map(([word]) => word)).toEqual([]);
  });
});

describe('source files', () => {
  it('use the words of the field in comments, messages and names of tests', () => {
    const found = sourceFiles().flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(PRIVATE_WORDS)].map(([word]) => `${file}: ${word}`),
    );

    expect(found).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it('has every package and every arrow that the linter allows', () => {
    expect(describedImports()).toEqual(allowedImports());
  });

  it('has the five walks', () => {
    const walks = ['a retry decided', 'a channel folded', 'a fork cut', 'a link signed', 'a webhook retried'];

    expect(walks.filter((walk) => !readPage('ARCHITECTURE.md').includes(`where is ${walk}?`))).toEqual([]);
  });
});

describe('the decision records', () => {
  it.each(RECORDS)('%s has its number, a status and the four headings', (page) => {
    const number = /\d+/.exec(page)[0];

    expect(headings(page)[0]).toMatch(new RegExp(`^${number}: `));
    expect(readPage(page)).toMatch(/^Status: (accepted|superseded by \[\d+\])/m);
    expect(headings(page).slice(1)).toEqual(
      expect.arrayContaining(['Context', 'Decision', 'Consequences', 'Considered']),
    );
  });

  it('are all in the index, under their titles', () => {
    const index = readPage('docs/adr/README.md').replaceAll(/ +\|/g, ' |');
    const missing = RECORDS.filter((page) => {
      const [number, title] = headings(page)[0].split(/: (.*)/);
      return !index.includes(`| [${number}](${page.slice('docs/adr/'.length)}) | ${title} |`);
    });

    expect(missing).toEqual([]);
  });
});

describe('the invariants', () => {
  const numbers = readInvariants().map(({ number }) => number);

  it('have one number each', () => {
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
    expect(ownNumbers()).toEqual([]);
  });

  it('are those that are cited, in source files, tests and pages', () => {
    const inPages = [...readPage('ARCHITECTURE.md').matchAll(/\b[A-Z]-\d+\b/g)].map(([number]) => ({
      number,
    }));
    const unknown = [...readCitations(), ...inPages].filter(({ number }) => !numbers.includes(number));

    expect(unknown).toEqual([]);
  });

  it('are each cited by a test', () => {
    // Rows of a table are walked over by the test next to it.
    const proven = new Set(readCitations().flatMap(({ number, isProof }) => (isProof ? [number] : [])));

    expect(numbers.filter((number) => number.includes('-') && !proven.has(number))).toEqual([]);
  });

  it('are on their page (`npm run docs` rewrites it)', () => {
    expect(readPage('docs/reference/invariants.md')).toBe(renderInvariants());
  });
});

describe('unit tests', () => {
  it('open no socket, file or process', () => {
    const outside = /from 'node:(fs|net|http|https|tls|dgram|child_process|worker_threads)/;
    const opening = sourceFiles()
      .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.int.test.ts'))
      .filter((file) => outside.test(readFileSync(join(ROOT, file), 'utf8')));

    expect(opening).toEqual([]);
  });
});

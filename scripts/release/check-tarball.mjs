/** What must be true of a tarball before a person publishes it. Answers one sentence for each thing that is not. */
import { posix } from 'node:path';

const ALWAYS = ['README.md', 'LICENSE', 'THIRD-PARTY-NOTICES.md', 'package.json'];

export function problemsOf(files, manifest) {
  return [
    ...ALWAYS.filter((name) => !files.has(name)).map((name) => `${name} is missing`),
    ...[...files.keys()].filter(isUnwanted).map((name) => `${name} does not belong into a package`),
    ...entriesOf(manifest)
      .filter((name) => !hasEntry(files, name))
      .map((name) => `package.json names ${name}, which is missing`),
    ...brokenImports(files),
    ...brokenMaps(files),
  ];
}

function isUnwanted(name) {
  return /\.test\.|(^|\/)testing\/(?!hostile-texts|published)|\.tsbuildinfo$|^tsconfig/.test(name);
}

/** Every file that package.json leads to. */
function entriesOf({ exports = {}, bin = {} }) {
  const leaves = (value) => (typeof value === 'string' ? [value] : Object.values(value).flatMap(leaves));
  return [...leaves(exports), ...leaves(bin)].map((path) => posix.normalize(path));
}

/** A name with a star stands for any number of files. */
function hasEntry(files, name) {
  const [start, end] = name.split('*');
  return end === undefined
    ? files.has(name)
    : [...files.keys()].some((file) => file.startsWith(start) && file.endsWith(end));
}

function* brokenImports(files) {
  for (const [name, content] of files) {
    if (!/\.(m?js|d\.ts)$/.test(name)) continue;
    for (const [, path] of content
      .toString('utf8')
      .matchAll(/(?:from|import)\s*\(?['"](\.{1,2}\/[^'"]+)['"]/g)) {
      const target = posix.join(posix.dirname(name), path);
      // Declarations name the module, whose types are next to it.
      if (!files.has(target) && !files.has(target.replace(/\.ts$/, '.d.ts')))
        yield `${name} imports ${path}, which is missing`;
    }
  }
}

function* brokenMaps(files) {
  for (const [name, content] of files) {
    if (!name.endsWith('.map')) continue;
    for (const source of JSON.parse(content.toString('utf8')).sources) {
      const target = posix.join(posix.dirname(name), source);
      if (!files.has(target)) yield `${name} leads to ${source}, which is missing`;
    }
  }
}

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from '../bootstrap.mjs';

/** Every page that people read, as paths from the root. */
export const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'examples/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`),
].sort();

export function readPage(page) {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Links to files or anchors that are not there, as "page: link". */
export function brokenLinks(page) {
  return [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
    .map((link) => `${page}: ${link}`);
}

/** Files of packages that the page names in backticks and that are not there; a package may be named without `packages/`. */
export function missingPaths(page) {
  return [...readPage(page).matchAll(/(?<![\w/.-])((?:packages\/)?[a-z]+\/src\/[\w./-]+\w)/g)]
    .map(([, path]) => (path.startsWith('packages/') ? path : `packages/${path}`))
    .filter((path) => !existsSync(join(ROOT, path)))
    .map((path) => `${page}: ${path}`);
}

export function headings(page) {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, text]) => text);
}

function leadsSomewhere(page, link) {
  const [file, anchor] = link.split('#');
  const target = file === '' ? page : normalize(join(dirname(page), file)).replace(/\/$/, '');
  if (!existsSync(join(ROOT, target))) return false;
  return (
    anchor === undefined || !target.endsWith('.md') || headings(target).some((text) => slug(text) === anchor)
  );
}

/** As GitHub makes anchors from headings. */
function slug(heading) {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Without blocks of code. */
export function proseOf(page) {
  return readPage(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
}

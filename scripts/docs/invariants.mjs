/**
 * The invariants of the project. Each stands once, numbered, at the top of the file that keeps it (" * E-4. …"); the page
 * docs/reference/invariants.md is made from those files, and tests cite the numbers of what they prove.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap.mjs';
import { sourceFiles } from './source-files.mjs';

const AREAS = {
  D: 'Schedules and triggers: due times, firing, deliveries',
  E: 'Deciding: batches, frontier, children, channels, interrupts, replay, diff',
  R: 'Redaction and secrets',
  W: 'Executing: dispatcher, actors, leases, effects, commits, commands, retention, quarantine',
  Q: 'Fairness between tenants',
  F: 'Following runs: feeds, cursors, snapshots',
  O: 'Outbox: webhooks and callbacks',
  U: 'Audit log',
  H: 'Workers: sessions, leases, tasks of users’ code',
  V: 'Workers: the SDK’s side of leases and reports',
  M: 'Processes for code of users next to a host',
  K: 'Keys, links and the identity of a host',
  S: 'Stores',
  N: 'Node types of users, and the definitions that use them',
  J: 'Packs: trust and installation',
  G: 'Agents of other hosts: tasks over A2A',
  P: 'Patterns of clients',
  T: 'Telemetry and terminal output',
  L: 'Legal logs: rules of the log checker',
  C: 'Histories: rules of the chaos checker',
};

/** Rules that are rows of a table: they are data, and their numbers have no hyphen because reports and messages name them so. */
const TABLES = ['packages/engine/src/core/fold/log-checker.ts', 'packages/bench/src/chaos/checking/rules.ts'];

const OWN = /^ \* ([A-Z]-\d+)\. (.+(?:\n \* {4,}\S.*)*)/gm;
const ROW = /\{\s*id: '([A-Z]\d+)',\s*rule:\s*'((?:[^'\\]|\\.)*)'/g;
const CITED = new RegExp(`(?<![\\w-])([${Object.keys(AREAS).join('')}]-\\d{1,2})(?![\\w-])`, 'g');

/** Of all source files: number, statement and the file that keeps it. */
export function readInvariants() {
  const own = sourceFiles()
    .filter((file) => !isProof(file))
    .flatMap((file) => found(file, OWN));
  return [...own, ...TABLES.flatMap((file) => found(file, ROW))];
}

/** Every number that a source file or test names, with the file. */
export function readCitations() {
  return sourceFiles().flatMap((file) =>
    [...read(file).matchAll(CITED)].map(([, number]) => ({ number, file, isProof: isProof(file) })),
  );
}

/** Headers that number invariants of their own instead of those of the project. */
export function ownNumbers() {
  return sourceFiles().filter((file) => /^ \* [A-Z]\d{1,2}\. /m.test(read(file)));
}

export function renderInvariants() {
  const invariants = readInvariants();
  const sections = Object.entries(AREAS).map(([letter, title]) => {
    const rows = invariants.filter(({ number }) => number.startsWith(letter)).sort(byNumber);
    return [`## ${letter}: ${title}`, '', '| # | holds | in |', '| --- | --- | --- |', ...rows.map(row), ''];
  });
  return [
    '# Invariants',
    '',
    'What always holds, numbered once for the whole project. A statement is kept at the top of the file that keeps it; this page is made',
    'from those files by `npm run docs`. Tests name the numbers that they prove. Numbers are not used again.',
    '',
    ...sections.flat(),
  ].join('\n');
}

function found(file, pattern) {
  return [...read(file).matchAll(pattern)].map(([, number, text]) => ({
    number,
    statement: text.replaceAll(/\n \* +/g, ' '),
    file,
  }));
}

function row({ number, statement, file }) {
  const name = file.replace(/^packages\//, '').replace('/src/', '/');
  return `| ${number} | ${statement.replaceAll('|', '\\|')} | [${name}](../../${file}) |`;
}

function byNumber(a, b) {
  return Number(a.number.replace(/\D+/, '')) - Number(b.number.replace(/\D+/, ''));
}

/** Tests, and the contract that every store runs as one. */
function isProof(file) {
  return file.endsWith('.test.ts') || file.includes('/store-contract/');
}

function read(file) {
  return readFileSync(join(ROOT, file), 'utf8');
}

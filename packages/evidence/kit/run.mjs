/**
 * Runs a projector against the cases of this folder and compares bytes.
 *
 *   node run.mjs [--only TEXT] -- COMMAND [ARGS…]
 *
 * The command gets one more argument: a folder with case.json (contract and declared values), base/ and head/. It must
 * print the document and exit with 0, or print nothing and exit with another code when the evidence cannot be compared.
 * weft-projector.mjs is such a command. Nothing but the system's temporary folder is written to.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CASES = fileURLToPath(new URL('cases', import.meta.url));
const words = process.argv.slice(2);
const divide = words.indexOf('--');
const command = divide === -1 ? [] : words.slice(divide + 1);
const only = words[0] === '--only' ? words[1] : '';
if (command.length === 0) {
  process.stderr.write('Say which projector: node run.mjs -- COMMAND [ARGS…]\n');
  process.exit(2);
}

let failures = 0;
const files = readdirSync(CASES).filter((file) => file.endsWith('.json') && file.includes(only));
for (const file of files.sort((a, b) => (a < b ? -1 : 1))) {
  const item = JSON.parse(readFileSync(join(CASES, file), 'utf8'));
  const reason = failureOf(item);
  if (reason !== undefined) failures += 1;
  process.stdout.write(reason === undefined ? `ok      ${item.id}\n` : `FAILED  ${item.id}: ${reason}\n`);
}
process.stdout.write(`${files.length - failures} of ${files.length} cases hold\n`);
process.exitCode = failures === 0 ? 0 : 1;

function failureOf(item) {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-kit-'));
  try {
    lay(folder, item);
    const [program, ...args] = command;
    const { status, stdout, error } = spawnSync(program, [...args, folder], { maxBuffer: 64 * 1024 * 1024 });
    if (error !== undefined) return error.message;
    if (item.expect.output === null) {
      if (status === 0) return 'the evidence cannot be compared, but the projector says it can';
      return stdout.length === 0 ? undefined : 'a refusal must print nothing';
    }
    if (status !== 0) return `exit ${status} instead of a document`;
    const wanted = Buffer.from(item.expect.output);
    if (stdout.equals(wanted)) return undefined;
    const at = wanted.findIndex((byte, index) => byte !== stdout[index]);
    return `the output differs from byte ${at === -1 ? wanted.length : at} on`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function lay(folder, item) {
  const { contract, declared } = item;
  writeFileSync(join(folder, 'case.json'), JSON.stringify({ contract, declared }));
  for (const side of ['base', 'head']) {
    for (const [name, content] of Object.entries(item[side])) {
      const path = join(folder, side, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'));
    }
  }
}

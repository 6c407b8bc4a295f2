import { CliError, EXIT, usageError } from '../../exit-code.ts';
import type { Io } from '../../io.ts';

/** Where a value is typed or piped in; the process's stdin is one. */
export interface ValueInput extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
}

const MAX_BYTES = 1024 * 1024;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ERASE = /[\b\u007f]/;

/**
 * The value of a secret: from a variable, from a pipe, or typed without being shown. Never from an argument, which other
 * users of the machine and the shell's history would see.
 */
export async function readSecretValue(
  io: Io,
  fromEnv: string | undefined,
  input: ValueInput,
): Promise<string> {
  const value = await givenValue(io, fromEnv, input);
  if (value === '') throw usageError('The value is empty; nothing was stored.');
  return value;
}

function givenValue(io: Io, fromEnv: string | undefined, input: ValueInput): Promise<string> {
  if (fromEnv !== undefined) {
    const value = io.env[fromEnv];
    if (value === undefined) throw usageError(`--from-env: the variable ${fromEnv} is not set.`);
    return Promise.resolve(value);
  }
  return input.isTTY === true ? typed(io, input) : piped(input);
}

/** All of it, without the line end that echo and editors add. */
async function piped(input: ValueInput): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of input) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > MAX_BYTES) throw usageError('The value on stdin is longer than 1 MiB.');
    parts.push(bytes);
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

async function typed(io: Io, input: ValueInput): Promise<string> {
  io.stderr.write('Value (not shown): ');
  input.setRawMode?.(true);
  const decoder = new TextDecoder();
  const signs: string[] = [];
  try {
    for await (const part of input) {
      const text = typeof part === 'string' ? part : decoder.decode(part, { stream: true });
      for (const sign of text) {
        if (sign === '\r' || sign === '\n' || sign === CTRL_D) return signs.join('');
        if (sign === CTRL_C) throw new CliError(EXIT.unmet, 'cancelled', 'Cancelled; nothing was stored.');
        if (ERASE.test(sign)) signs.pop();
        else signs.push(sign);
      }
    }
    return signs.join('');
  } finally {
    input.setRawMode?.(false);
    io.stderr.write('\n');
  }
}

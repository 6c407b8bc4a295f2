import { PROGRAM } from '../program-name.ts';
import { shellWord } from './shell-word.ts';

/**
 * A command of ours, as it can be pasted into a shell. Ids and values in it come from the author of the workflow, or from a host:
 * what is pasted must not run anything but weft, and a name that begins like a flag must not become one, because `--url=…` would
 * send the answer, and the key, elsewhere.
 */
export function shellCommand(verb: string, words: readonly string[], flags = ''): string {
  const isPlain = words.every((word) => !word.startsWith('-'));
  const quoted = words.map(shellWord);
  const parts = isPlain ? [...quoted, flags] : [flags, '--', ...quoted];
  return [PROGRAM, verb, ...parts].filter(Boolean).join(' ');
}

import { jsonTree } from '../bytes/json-tree.ts';
import { jsonParser } from '../bytes/json-parser.ts';
import { JsonError } from '../bytes/json-error.ts';
import type { ArtifactSink } from './artifact-sink.ts';

const LF = 0x0a;
const MAX_LINE = 64 * 1024;

/**
 * The last word of the command that the run was started with, when it is an absolute path: in acceptance runs that is
 * the work dir. It is shown to a person as a hint and never applied; a prefix must be declared. No contract reads this
 * file, so nothing in it is ever a problem.
 */
export function runHintSink(done: (candidate: string) => void): ArtifactSink {
  const tree = jsonTree(3);
  const parser = jsonParser(tree);
  let fed = 0;
  let isOver = false;

  function finish(): void {
    isOver = true;
    if (!parser.end()) return;
    const event = tree.root();
    if (!(event instanceof Map) || event.get('type') !== 'run_started') return;
    const command: unknown = event.get('command');
    const last: unknown = Array.isArray(command) ? command.at(-1) : undefined;
    if (typeof last === 'string' && last.startsWith('/')) done(last.endsWith('/') ? last : `${last}/`);
  }

  function quietly(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      isOver = true;
    }
  }

  return {
    write(chunk) {
      if (isOver) return;
      const lineEnd = chunk.indexOf(LF);
      const to = lineEnd === -1 ? chunk.length : lineEnd;
      fed += to;
      if (fed > MAX_LINE) isOver = true;
      else quietly(() => parser.write(chunk, 0, to));
      if (!isOver && lineEnd !== -1) quietly(finish);
    },
    end() {
      if (!isOver) quietly(finish);
    },
  };
}

import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4_096;
const DEEPEST = 4;

/** Bytes of memory of a process and those that it has started, such as one behind walls; undefined where the system does not tell. */
export function memoryOf(pid: number | undefined, depth = 0): number | undefined {
  if (pid === undefined || depth > DEEPEST) return undefined;
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce(
      (sum, child) => sum + (memoryOf(Number(child), depth + 1) ?? 0),
      pages * PAGE_BYTES,
    );
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
}

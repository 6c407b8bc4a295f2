import { cross } from '../contract/cross.ts';
import type { Diff } from '../contract/document.ts';
import { readRun } from '../node/read-run.ts';

/** Two runs on disk, compared across runtimes. */
export async function projectCross(
  base: string,
  head: string,
  runtimes: string[],
  prefixes: string[],
): Promise<Diff> {
  const [basePrefix, headPrefix] = prefixes;
  const [baseRuntime, headRuntime] = runtimes;
  const declared = { baseRuntime, headRuntime, basePrefix, headPrefix };
  return cross(
    await readRun(base, { workDirPrefix: basePrefix }),
    await readRun(head, { workDirPrefix: headPrefix }),
    declared,
  ).diff;
}

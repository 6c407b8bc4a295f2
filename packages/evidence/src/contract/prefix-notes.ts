import { toBytes } from '../bytes/wtf8.ts';
import { valueBeginsWith } from './canonical-path.ts';
import type { Evidence } from './evidence.ts';
import { READABLE, type Side, type SideProblem } from './problem.ts';
import { CATEGORIES, PLACEHOLDER, SURFACE_FILE } from './vocabulary.ts';

/** How well a declared prefix fits its run. Notes only: a prefix that matches nothing is legal. */
export function prefixNotes(evidence: Evidence, side: Side): SideProblem[] {
  const prefix = evidence.workDirPrefix;
  const surface = evidence.surface;
  if (prefix === undefined || surface === undefined) return [];
  const notes: SideProblem[] = [];
  const note = (code: string, field: string, found: string, needed: string): void => {
    const base = { code, effect: 'note', side, only: 'cross', readable: READABLE.all } as const;
    notes.push({ ...base, file: SURFACE_FILE, field, found, needed });
  };
  const { matched, withoutSlash, literal, total } = surface.pathCounts;
  if (total > 0 && matched === 0) {
    const hint =
      evidence.prefixHint === undefined || evidence.prefixHint === prefix
        ? ''
        : `; the run was started with ${JSON.stringify(evidence.prefixHint)}, which may be the work dir`;
    note(
      'prefix_matches_nothing',
      '/filesystem_paths',
      `0 of ${total} values begin with the prefix${hint}`,
      'the work dir of this run',
    );
  }
  if (withoutSlash > 0)
    note(
      'work_dir_without_slash',
      '/filesystem_paths',
      'the work dir itself, without a final slash',
      'nothing; it stays as it is and shows the work dir',
    );
  if (literal > 0)
    note(
      'literal_placeholder',
      '/filesystem_paths',
      `${literal} values begin with ${PLACEHOLDER} as observed`,
      'nothing; they cannot be told from canonical ones',
    );
  for (const [category, count] of leaks(evidence, prefix))
    note(
      'prefix_in_other_category',
      `/${category}`,
      `${count} values begin with the prefix`,
      'nothing; only paths are canonicalized',
    );
  return notes;
}

function leaks(evidence: Evidence, prefix: string): [string, number][] {
  const wanted = toBytes(prefix);
  return CATEGORIES.slice(1).flatMap((category): [string, number][] => {
    const table = evidence.surface?.raw[category];
    if (table === undefined) return [];
    let count = 0;
    for (let index = 0; index < table.count; index += 1)
      if (valueBeginsWith(table.bytes, table.starts[index] as number, wanted)) count += 1;
    return count === 0 ? [] : [[category, count]];
  });
}

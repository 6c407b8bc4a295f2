import { group } from '../../parsing/command.ts';
import { check } from './check.ts';
import { cross } from './cross.ts';
import { diff } from './diff.ts';
import { explain } from './explain.ts';
import { matrix } from './matrix.ts';
import { show } from './show.ts';

/**
 * What agents did, compared. Describes differences and never judges them. The package is loaded by the command that needs it, so that
 * every other one starts without.
 */
export const evidence = group('evidence', 'Compare recorded runs of agents', [
  diff,
  cross,
  explain,
  check,
  show,
  matrix,
]);

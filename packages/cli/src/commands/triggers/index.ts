import { group } from '../../parsing/command.ts';
import { create } from './create.ts';
import { dead } from './dead.ts';
import { ls } from './ls.ts';
import { pause } from './pause.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { rm } from './rm.ts';
import { show } from './show.ts';
import { test } from './test.ts';

export const triggers = group('triggers', 'Start workflows by what is delivered to a URL', [
  ls,
  create,
  show,
  test,
  pause,
  resume,
  dead,
  replay,
  rm,
]);

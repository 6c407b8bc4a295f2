import { group } from '../../parsing/command.ts';
import { backfill } from './backfill.ts';
import { create } from './create.ts';
import { dead } from './dead.ts';
import { ls } from './ls.ts';
import { pause } from './pause.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { rm } from './rm.ts';
import { show } from './show.ts';
import { trigger } from './trigger.ts';

export const schedules = group('schedules', 'Start workflows by the clock', [
  ls,
  create,
  show,
  pause,
  resume,
  trigger,
  backfill,
  dead,
  replay,
  rm,
]);

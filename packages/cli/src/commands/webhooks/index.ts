import { group } from '../../parsing/command.ts';
import { add } from './add.ts';
import { dead } from './dead.ts';
import { ls } from './ls.ts';
import { replay } from './replay.ts';
import { rm } from './rm.ts';
import { secret } from './secret.ts';

export const webhooks = group('webhooks', 'Manage webhooks and failed deliveries', [
  ls,
  add,
  rm,
  dead,
  replay,
  secret,
]);

import { group } from '../../parsing/command.ts';
import { build } from './build.ts';
import { check } from './check.ts';
import { init } from './init.ts';
import { install } from './install.ts';
import { ls } from './ls.ts';
import { publish } from './publish.ts';
import { rm } from './rm.ts';
import { sign } from './sign.ts';
import { verify } from './verify.ts';

export const pack = group('pack', 'Build, sign, publish and install packs of node types', [
  init,
  check,
  build,
  sign,
  publish,
  verify,
  install,
  ls,
  rm,
]);

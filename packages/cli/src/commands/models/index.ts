import { group } from '../../parsing/command.ts';
import { ls } from './ls.ts';
import { test } from './test.ts';

export const models = group('models', 'See which language models there are, and try them', [ls, test]);

import { group } from '../../parsing/command.ts';
import { ls } from './ls.ts';
import { test } from './test.ts';

export const peers = group('peers', 'Agents of other hosts that workflows may call', [ls, test]);

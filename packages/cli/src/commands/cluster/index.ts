import { group } from '../../parsing/command.ts';
import { drain } from './drain.ts';
import { ls } from './ls.ts';

export const cluster = group('cluster', 'List and drain the processes that share a store', [ls, drain]);

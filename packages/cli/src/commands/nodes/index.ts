import { group } from '../../parsing/command.ts';
import { ls } from './ls.ts';
import { map } from './map.ts';

export const nodes = group('nodes', 'List node types, and map their versions', [ls, map]);

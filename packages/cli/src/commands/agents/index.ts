import { group } from '../../parsing/command.ts';
import { ls } from './ls.ts';
import { show } from './show.ts';

export const agents = group('agents', 'Agents of installed packs, which nodes may pin', [ls, show]);

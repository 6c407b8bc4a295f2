import { group } from '../../parsing/command.ts';
import { call } from './call.ts';
import { ls } from './ls.ts';
import { test } from './test.ts';

export const mcp = group('mcp', 'List, test and call the tools of MCP servers', [ls, test, call]);

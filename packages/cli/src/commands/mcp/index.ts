import { group } from '../../parsing/command.ts';
import { call } from './call.ts';
import { ls } from './ls.ts';
import { serve } from './serve.ts';
import { test } from './test.ts';

export const mcp = group('mcp', 'Tools of MCP servers, and workflows as tools of assistants', [
  ls,
  test,
  call,
  serve,
]);

import type { Json } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { readMcpServers, secretsOf } from './config.ts';

describe('mcpServers', () => {
  it('has the form that people have, with what it does not say filled in', () => {
    const servers = readMcpServers({
      files: { command: 'npx', args: ['-y', 'server'], env: { KEY: 'secret:files', PLAIN: 'x' } },
      remote: {
        type: 'http',
        url: 'https://mcp.example.org/mcp',
        headers: { Authorization: 'Bearer secret:remote' },
        approve: 'never',
        tools: ['get_*'],
        timeoutMs: 5,
      },
    });

    expect(servers).toEqual([
      {
        name: 'files',
        reach: {
          kind: 'stdio',
          command: 'npx',
          args: ['-y', 'server'],
          env: { KEY: { text: '', secretId: 'files' }, PLAIN: { text: 'x', secretId: undefined } },
          cwd: undefined,
        },
        tools: ['*'],
        approve: undefined,
        timeoutMs: 60_000,
      },
      {
        name: 'remote',
        reach: {
          kind: 'http',
          url: new URL('https://mcp.example.org/mcp'),
          headers: { Authorization: { text: 'Bearer ', secretId: 'remote' } },
        },
        tools: ['get_*'],
        approve: [],
        timeoutMs: 5,
      },
    ]);
    expect(servers.flatMap(secretsOf)).toEqual([
      { field: 'mcpServers.files.env.KEY', secretId: 'files' },
      { field: 'mcpServers.remote.headers.Authorization', secretId: 'remote' },
    ]);
  });

  it.each<[Json, string]>([
    [[], 'mcpServers must be an object'],
    [{ a: 'npx' }, 'mcpServers.a must be an object with "command" or "url".'],
    [{ 'a b': { command: 'x' } }, 'mcpServers["a b"] is no name for a server'],
    [{ a: {} }, 'mcpServers.a must have "command"'],
    [{ a: { command: 'x', url: 'https://x' } }, 'mcpServers.a must have "command"'],
    [{ a: { command: '' } }, 'mcpServers.a.command is not valid'],
    [{ a: { command: 'x', args: 'y' } }, 'mcpServers.a.args is not valid'],
    [{ a: { command: 'x', argz: [] } }, 'argz'],
    [{ a: { command: 'x', env: { A: 1 } } }, 'mcpServers.a.env.A is not valid'],
    [{ a: { command: 'x', env: { 'A=B': '1' } } }, 'mcpServers.a.env holds "A=B"'],
    [{ a: { command: 'x', timeoutMs: 0 } }, 'mcpServers.a.timeoutMs is not valid'],
    [{ a: { command: 'x', approve: 'always' } }, 'mcpServers.a.approve is not valid'],
    [{ a: { url: 'ftp://x' } }, 'mcpServers.a.url must be an http or https URL.'],
    [{ a: { url: 'https://me:pw@x' } }, 'mcpServers.a.url must not hold a user name'],
    [{ a: { url: 'https://x', headers: { Host: 'y' } } }, 'mcpServers.a.headers.Host is set by the host'],
    [{ a: { url: 'https://x', headers: { 'a b': 'y' } } }, 'mcpServers.a.headers holds "a b"'],
    [{ a: { url: 'https://x', env: {} } }, 'env'],
  ])('%j is refused with the field', (value, message) => {
    expect(() => readMcpServers(value)).toThrow(message);
  });

  it('has a bound on the number of servers', () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`s${n}`, { command: 'x' }]));

    expect(() => readMcpServers(many)).toThrow('at most 32');
  });
});

import { describe, expect, it } from 'vitest';
import { namesToAsk, parseHosts, parseResolverConfig } from './resolver.ts';

describe('a hosts file', () => {
  it('gives every address of a name, in any case, and ignores what it cannot read', () => {
    const hosts = parseHosts(
      [
        '# comment',
        '127.0.0.1 localhost',
        '::1 localhost ip6-localhost',
        '10.0.0.9 Db db.corp # the database',
        'oops x',
      ].join('\n'),
    );

    expect(hosts.get('localhost')).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(hosts.get('db')).toEqual([{ address: '10.0.0.9', family: 4 }]);
    expect([...hosts.keys()]).toEqual(['localhost', 'ip6-localhost', 'db', 'db.corp']);
  });
});

describe('search domains', () => {
  it('come from the last line that names some, and ndots from the options', () => {
    expect(parseResolverConfig('')).toEqual({ search: [], ndots: 1 });
    expect(
      parseResolverConfig(
        'nameserver 10.0.0.1\ndomain old.corp\nsearch a.svc b.svc . # x\noptions rotate ndots:5\n',
      ),
    ).toEqual({ search: ['a.svc', 'b.svc'], ndots: 5 });
    expect(parseResolverConfig('options ndots:400').ndots).toBe(15);
  });

  it('are tried first for names with few dots, and last for others', () => {
    const config = { search: ['a.svc', 'b.svc.'], ndots: 2 };

    expect(namesToAsk('api', config)).toEqual(['api.a.svc', 'api.b.svc', 'api']);
    expect(namesToAsk('www.example.com', config)).toEqual([
      'www.example.com',
      'www.example.com.a.svc',
      'www.example.com.b.svc',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { PLAIN } from '../output/style.ts';
import { renderBanner, type Started } from './banner.ts';

const STARTED: Started = {
  url: 'http://127.0.0.1:7878',
  pid: 4711,
  keyFrom: 'WEFT_API_KEY',
  test: false,
  allowEgress: [],
  files: [],
  nodes: [],
  registered: 0,
  command: 'weft',
};

const lineOf = (started: Partial<Started>, name: string): string | undefined =>
  renderBanner(PLAIN, { ...STARTED, ...started })
    .split('\n')
    .find((line) => line.startsWith(name));

const file = (id: string): Started['files'][number] => ({
  file: `${id}.json`,
  id,
  version: '1.0.0',
  warnings: [],
});

describe('the banner', () => {
  it('names the process', () => {
    expect(lineOf({}, 'pid')).toMatch(/^pid +4711$/);
  });

  it('says which workflows were loaded, and how many others are registered', () => {
    expect(lineOf({}, 'workflows')).toContain('none; add some with --workflows DIR');
    expect(lineOf({ registered: 1 }, 'workflows')).toMatch(/1 registered, none loaded here$/);
    expect(lineOf({ files: [file('a')], registered: 1 }, 'workflows')).toMatch(/ a@1\.0\.0$/);
    expect(lineOf({ files: [file('a')], registered: 7 }, 'workflows')).toMatch(
      / a@1\.0\.0; 7 registered in all$/,
    );
    const many = Array.from({ length: 13 }, (_, index) => file(`w${index}`));
    expect(lineOf({ files: many, registered: 13 }, 'workflows')).toMatch(/ 13 loaded$/);
    expect(lineOf({ files: many, registered: 40 }, 'workflows')).toMatch(/ 13 loaded; 40 registered in all$/);
  });

  it('says which files wait for node types', () => {
    const files = [{ file: '/x/shop.json', waitingFor: ['acme.charge', 'acme.ship'] }];

    const banner = renderBanner(PLAIN, { ...STARTED, files });

    expect(banner).toContain('Registered when a worker serves their node types:');
    expect(banner).toContain('! shop.json: waiting for types acme.charge, acme.ship');
    expect(banner).not.toContain('Not loaded');
  });
});

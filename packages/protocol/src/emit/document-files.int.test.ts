import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentFiles } from './document-files.ts';

const folder = new URL('../../documents/', import.meta.url);

describe('the documents in the package', () => {
  it.each(documentFiles().map(({ file, text }) => [file, text]))(
    '%s says what the tables say (npm run docs rewrites it)',
    (file, text) => {
      expect(readFileSync(new URL(file, folder), 'utf8')).toBe(text);
    },
  );

  it('are all that there are', () => {
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => /\.(json|proto)$/.test(file));

    expect(found.toSorted()).toEqual(
      documentFiles()
        .map(({ file }) => file)
        .toSorted(),
    );
  });

  it('can be imported by name', async () => {
    const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      exports: Record<string, { default: string }>;
    };

    expect(exports['./openapi.json']?.default).toBe('./documents/openapi.json');
    expect(exports['./asyncapi.json']?.default).toBe('./documents/asyncapi.json');
    expect(exports['./openwop.proto']?.default).toBe('./documents/openwop.proto');
    expect(exports['./schemas/*.json']?.default).toBe('./documents/schemas/*.json');
  });
});

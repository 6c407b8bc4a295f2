import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderReference } from './reference.ts';

const folder = new URL('../../../../docs/reference/', import.meta.url);
const update = process.env.UPDATE_DOCS === '1';

describe('the reference pages', () => {
  it.each(renderReference().map((page) => [page.file, page.markdown]))(
    'docs/reference/%s says what the tables say (UPDATE_DOCS=1 rewrites it)',
    (file, markdown) => {
      if (update) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(new URL(file, folder), markdown);
      }

      expect(readFileSync(new URL(file, folder), 'utf8')).toBe(markdown);
    },
  );
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderRequirementsPage } from './requirements-page.ts';

const PAGE = new URL('../../../../docs/reference/conformance.md', import.meta.url);

it('docs/reference/conformance.md says what the table says (npm run docs rewrites it)', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(renderRequirementsPage());
});

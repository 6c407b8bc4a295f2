import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSettingsReference } from './settings-reference.ts';

const page = new URL('../../../../../docs/reference/settings.md', import.meta.url);

describe('the reference page of the settings', () => {
  it('says what the table says (UPDATE_DOCS=1 rewrites it)', () => {
    const markdown = renderSettingsReference();
    if (process.env.UPDATE_DOCS === '1') writeFileSync(page, markdown);

    expect(readFileSync(page, 'utf8')).toBe(markdown);
  });
});

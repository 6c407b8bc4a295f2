import { readFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../routes/routes.ts';

const page = readFileSync(new URL('../../../../docs/compatibility.md', import.meta.url), 'utf8');

function isClosed(schema: TSchema): boolean {
  const { additionalProperties, unevaluatedProperties } = schema as Record<string, unknown>;
  return additionalProperties === false || unevaluatedProperties === false;
}

/** The operations that a section of the page names. */
function namedIn(section: string): string[] {
  const text = page.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  const known = new Set<string>(ROUTES.map(({ operationId }) => operationId));
  return [...text.matchAll(/`(\w+)`/g)].flatMap(([, name = '']) => (known.has(name) ? [name] : []));
}

describe('docs/compatibility.md', () => {
  it('names the requests that are open', () => {
    const open = ROUTES.filter(({ request }) => request !== undefined && !isClosed(request.schema));

    expect(namedIn('Requests').toSorted()).toEqual(open.map(({ operationId }) => operationId).toSorted());
  });

  it('names the answers that are closed', () => {
    const closed = ROUTES.filter(({ responses }) =>
      Object.values(responses).some(({ schema }) => schema !== undefined && isClosed(schema)),
    );

    expect(namedIn('Answers').toSorted()).toEqual(closed.map(({ operationId }) => operationId).toSorted());
  });
});

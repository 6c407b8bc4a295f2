import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cross } from './contract/cross.ts';
import { diff } from './contract/diff.ts';
import { renderDiff } from './contract/render.ts';
import { evidenceFromFiles } from './from-files.ts';
import { documentSchema, type JsonSchema, type Shape, SHAPES } from './schema.ts';
import { dataText, hasReferenceData } from './testing/reference-data.ts';
import { DECLARED, runFiles, type RunParts } from './testing/runs.ts';
import { isValid } from './testing/schema-validator.ts';

const FOLDER = new URL('../schemas/', import.meta.url);
const PARTS: Record<Shape, RunParts> = {
  clean: {},
  partial: { correlation: { status: 'partial' } },
  failed: { health: { schema: 'x' } },
};

function documentOf(contract: 'capability' | 'cross', shape: Shape): unknown {
  const base = evidenceFromFiles(runFiles(PARTS[shape]), {
    workDirPrefix: DECLARED.basePrefix,
    keepRawPaths: true,
  });
  const head = evidenceFromFiles(runFiles(), { workDirPrefix: DECLARED.headPrefix, keepRawPaths: true });
  const found = contract === 'cross' ? cross(base, head, DECLARED) : diff(base, head);
  return JSON.parse(renderDiff(found.diff));
}

describe.each(['capability', 'cross'] as const)('the schemas of %s diffs', (contract) => {
  it.each(SHAPES)('accept a %s document and none of the other shapes', (shape) => {
    const schema = documentSchema(contract, shape);

    expect(SHAPES.filter((other) => isValid(schema, documentOf(contract, other)))).toEqual([shape]);
  });

  it('refuse a status that its preconditions contradict', () => {
    const document = documentOf(contract, 'partial') as Record<string, unknown>;

    expect(isValid(documentSchema(contract, 'partial'), { ...document, status: 'partial:health' })).toBe(
      false,
    );
  });

  it('refuse keys that the contract does not have', () => {
    const document = documentOf(contract, 'clean') as Record<string, unknown>;

    expect(isValid(documentSchema(contract, 'clean'), { ...document, verdict: 'pass' })).toBe(false);
  });
});

describe('the schema files', () => {
  it('are what the library gives', () => {
    const files = readdirSync(FOLDER).map(
      (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as unknown,
    );
    const given = (['capability', 'cross'] as const).flatMap((contract) =>
      SHAPES.map((shape) => documentSchema(contract, shape)),
    );

    expect(files).toHaveLength(given.length);
    expect(files).toEqual(expect.arrayContaining(given));
  });
});

if (hasReferenceData) {
  describe('extra check: the published schema', () => {
    it('accepts our clean documents, and only those', () => {
      const schema = JSON.parse(dataText('schemas/cross-runtime-diff-v0-clean.schema.json')) as JsonSchema;

      expect(SHAPES.map((shape) => isValid(schema, documentOf('cross', shape)))).toEqual([
        true,
        false,
        false,
      ]);
    });
  });
}

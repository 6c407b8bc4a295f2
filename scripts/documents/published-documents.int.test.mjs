import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asyncApiDocument, openApiDocument } from '@weft/protocol';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../bootstrap.mjs';

/** The documents that hosts publish, read by programs of others. */

const tools = createRequire(join(ROOT, 'tools/documents/package.json'));
const folder = mkdtempSync(join(tmpdir(), 'weft-documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the OpenAPI document', () => {
  it('has nothing that a linter of others complains about', async () => {
    expect(await lint(openApiDocument())).toEqual([]);
  });

  it('is really looked at: an operation id given twice is found', async () => {
    const broken = openApiDocument();
    broken.paths['/v1/runs'].post.operationId = 'getRun';

    expect(await lint(broken)).toEqual(expect.arrayContaining(['operation-operationId-unique']));
  });

  it('gives a generator of others types that a program compiles against', async () => {
    const { default: generate, astToString } = await import(moduleOf('openapi-typescript'));
    writeFileSync(join(folder, 'weft.d.ts'), astToString(await generate(openApiDocument())));
    writeFileSync(
      join(folder, 'use.ts'),
      `import type { paths } from './weft.d.ts';
type Created = paths['/v1/runs']['post']['responses']['201']['content']['application/json'];
type Wanted = NonNullable<paths['/v1/runs']['post']['requestBody']>['content']['application/json'];
export const wanted: Wanted = { workflowId: 'order' };
export const idOf = (created: Created): string => created.runId;
// @ts-expect-error an unknown field
export const wrong: Wanted = { workflowID: 'order' };
`,
    );
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
      '--target',
      'es2023',
    ];

    const { stdout, status } = spawnSync(
      process.execPath,
      [tools.resolve('typescript/bin/tsc'), ...flags, join(folder, 'use.ts')],
      { encoding: 'utf8' },
    );

    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});

describe('the AsyncAPI document', () => {
  it('has nothing that the parser of its makers complains about', async () => {
    expect(await parse(asyncApiDocument())).toEqual([]);
  });

  it('is really looked at: a message that is not there is found', async () => {
    const broken = asyncApiDocument();
    broken.channels.updates.messages['run.started'] = { $ref: '#/components/messages/none' };

    expect((await parse(broken)).join()).toMatch(/invalid-ref/);
  });
});

async function lint(document) {
  const { createConfig, lintFromString } = await import(moduleOf('@redocly/openapi-core'));
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config,
    absoluteRef: 'openapi.json',
  });
  return problems.map(({ ruleId }) => ruleId);
}

async function parse(document) {
  const { Parser } = tools('@asyncapi/parser');
  const { diagnostics } = await new Parser().parse(JSON.stringify(document));
  return diagnostics.map(({ code, message, path }) => `${code}: ${message} at ${path.join('/')}`);
}

function moduleOf(name) {
  return pathToFileURL(tools.resolve(name)).href;
}

/** The files of a new project, by path. A test starts one and runs what its README says. */
export interface ProjectDependencies {
  readonly name: string;
  /** Where the packages come from: a version, or `file:` and a folder. */
  readonly cli: string;
  readonly sdk: string;
  readonly typebox: string;
}

export function projectFiles({
  name,
  cli,
  sdk,
  typebox,
}: ProjectDependencies): Readonly<Record<string, string>> {
  return {
    'package.json': json({
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      scripts: {
        start: 'weft serve --dev --nodes ./nodes --workflows ./workflows',
        test: 'node --import @weft/cli/typescript --test test/*.test.ts',
      },
      dependencies: { '@weft/cli': cli, '@weft/sdk': sdk, typebox },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        erasableSyntaxOnly: true,
      },
      include: ['nodes', 'test'],
    }),
    '.gitignore': 'node_modules/\n.weft/\n',
    'nodes/greet.ts': NODE,
    'workflows/hello.json': json(WORKFLOW),
    'test/greet.test.ts': TEST,
    'README.md': readme(name),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const NODE = `import { defineNode, NodeError, Type } from '@weft/sdk/nodes';

/** Runs as a durable step: what it returns is on disk before anything else sees it. */
export const greet = defineNode({
  typeId: 'demo.greet',
  version: '1.0.0',
  title: 'Greet a person',
  inputs: { name: Type.String() },
  outputs: { greeting: Type.String() },
  async run({ inputs, attempt, log }) {
    if (inputs.name === '') throw new NodeError('name_missing', 'The name is empty.');
    log('info', 'greeting', { attempt });
    return { greeting: \`Hello, \${inputs.name}!\` };
  },
});
`;

/** As its test sees it. A name of its own, so that the check of tarballs takes it for no import of this file. */
const NODE_OF_TEST = '../nodes/greet.ts';

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNode } from '@weft/sdk/nodes';
import { greet } from '${NODE_OF_TEST}';

test('greets by name', async () => {
  const { outputs } = await testNode(greet, { inputs: { name: 'Ada' } });

  assert.deepEqual(outputs, { greeting: 'Hello, Ada!' });
});

test('refuses an empty name', async () => {
  const { error } = await testNode(greet, { inputs: { name: '' } });

  assert.equal(error?.code, 'name_missing');
});
`;

const WORKFLOW = {
  id: 'hello',
  name: 'Hello',
  version: '1.0.0',
  description: 'Greets a person with a function of your own.',
  nodes: [
    {
      id: 'greet',
      typeId: 'demo.greet',
      name: 'Greet',
      position: { x: 0, y: 0 },
      config: {},
      inputs: { name: { type: 'variable', variableName: 'name' } },
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [{ name: 'name', type: 'string', description: 'Whom to greet', defaultValue: 'world' }],
  metadata: { tags: [] },
  settings: { timeout: 60_000 },
};

function readme(name: string): string {
  return `# ${name}

\`\`\`
npm start                                     # a host with this project's code, reloaded when a file changes
npx @weft/cli run hello --input name=Ada --watch   # in a second terminal
npm test                                      # the nodes without a host
\`\`\`

- \`nodes/\`: every node type that a file exports is served. Change \`nodes/greet.ts\` while \`npm start\` runs: the next run has it.
- \`workflows/\`: every \`*.json\` is registered when the host starts.
- \`.weft/\`: the data of the host; remove it to begin from nothing.

Elsewhere: \`npx @weft/cli worker ./nodes --url URL --key-file FILE\` serves the same files to any host.
`;
}

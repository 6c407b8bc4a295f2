import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EXIT, unusable, usageError } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { leaf } from '../../parsing/command.ts';
import { reasonOf } from '../../parsing/key-values.ts';
import { type ExportedWorkflow, loadWorkflows } from '../../user-code/workflow-module.ts';

export const build = leaf({
  name: 'build',
  summary: 'Build a workflow written in TypeScript to JSON',
  examples: [
    'weft workflows build order.ts',
    'weft workflows build order.ts -o order.json',
    'weft workflows build all.ts --id order',
  ],
  args: {
    file: {
      type: 'positional',
      description: 'A module that exports what defineWorkflow returns',
      required: true,
    },
    output: {
      type: 'string',
      alias: 'o',
      valueHint: 'FILE',
      description: 'Write to this file, not to stdout',
    },
    id: {
      type: 'string',
      valueHint: 'ID',
      description: 'The workflow to build, if the module exports several',
    },
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { workflows } = await loadWorkflows(resolve(io.cwd, args.file));
    const { definition } = chosen(workflows, args.id);
    const text = `${JSON.stringify(definition, null, 2)}\n`;
    if (args.output === undefined) {
      io.stdout.document(text);
      return EXIT.done;
    }
    await writeFile(resolve(io.cwd, args.output), text).catch((cause: unknown) => {
      throw unusable('file_unwritable', `${args.output} cannot be written: ${reasonOf(cause)}.`, cause);
    });
    io.stderr.write(
      shown`${String(definition['id'])}@${String(definition['version'])} written to ${args.output}\n`,
    );
    return EXIT.done;
  },
});

function chosen(workflows: readonly ExportedWorkflow[], id: string | undefined): ExportedWorkflow {
  const found = workflows.filter(({ definition }) => id === undefined || definition['id'] === id);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const ids = [...new Set(workflows.map(({ definition }) => String(definition['id'])))].join(', ');
  throw usageError(
    only === undefined
      ? `The module exports no workflow with the id "${id ?? ''}"; it exports ${ids}.`
      : `The module exports several workflows (${ids}); choose one with --id.`,
  );
}

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { WorkflowReport } from '@weft/sdk';
import type { Json } from '@weft/protocol/plain';
import { type Cli, HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { CliError, EXIT } from '../../exit-code.ts';
import { parseJsonText, readTextFile } from '../../parsing/key-values.ts';
import { jsonFilesIn } from '../../parsing/json-files.ts';
import { countText } from '../../output/count-text.ts';
import { renderReport } from '../../output/problem-list.ts';
import { control, shown } from '../../output/terminal-text.ts';
import { isCodeFile, loadWorkflows } from '../../user-code/workflow-module.ts';
import { type Checker, hostChecker, openChecker, reportOf } from './checker.ts';
import { watchFolders } from '../../user-code/watch-folders.ts';

export const check = leaf({
  name: 'check',
  summary: 'Check definitions, without a host or on one',
  examples: [
    'weft workflows check examples/workflows/order-fulfilment.json',
    'weft workflows check examples/workflows more/*.json',
    'weft workflows check my.json --strict --json',
    'weft workflows check my.json --on-host',
    'weft workflows check workflows --watch',
  ],
  variadic: true,
  args: {
    file: {
      type: 'positional',
      description: 'Definitions as JSON or TypeScript, or folders of JSON',
      required: true,
    },
    strict: { type: 'boolean', description: 'Treat warnings as errors' },
    conformance: { type: 'boolean', description: 'Check as a test host would' },
    watch: { type: 'boolean', description: 'Check again whenever a file changes, until Ctrl-C' },
    'on-host': {
      type: 'boolean',
      description: 'Ask the host, which knows the node types that its workers serve',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const checkDefinition =
      args['on-host'] === true
        ? hostChecker((await connect(cli.io, args)).client)
        : await openChecker(args.conformance === true);
    const task: Task = { cli, named: args._, checkDefinition, isStrict: args.strict === true };
    if (args.watch === true) return await checkUntilStopped(task);
    return (await checkAll(task)) === 0 ? EXIT.done : EXIT.failed;
  },
});

interface Task {
  readonly cli: Cli;
  /** Files and folders, as they were named. */
  readonly named: readonly string[];
  readonly checkDefinition: Checker;
  readonly isStrict: boolean;
  /** Called with every file that a result depends on. */
  readonly onFiles?: (files: readonly string[]) => void;
}

interface Checked {
  readonly text: string;
  readonly report: WorkflowReport;
}

/** How many are not right. */
async function checkAll(task: Task): Promise<number> {
  const { cli, named, isStrict } = task;
  const files = await filesOf(cli.io.cwd, named);
  let bad = 0;
  for (const file of files) {
    // One that cannot be read keeps none of the others from being checked.
    const checked = await checkFile(file, task).catch((error: unknown) => {
      const isAlone = files.length === 1 && task.onFiles === undefined;
      if (isAlone || !(error instanceof CliError)) throw error;
      return [{ text: '', report: reportOf(error) }];
    });
    const isGood = checked.map((each) => show(cli, file, each, isStrict)).every(Boolean);
    if (!isGood) bad += 1;
  }
  if (!cli.json && files.length > 1)
    cli.io.stderr.write(`${countText(files.length, 'file')}: ${files.length - bad} ok, ${bad} not.\n`);
  return bad;
}

/** Again after every change; a change during a check is followed by another one. */
async function checkUntilStopped(task: Task): Promise<typeof EXIT.done> {
  const { io } = task.cli;
  let wake: () => void = () => undefined;
  let isStopped = false;
  let isChanged = true;
  const { folders, files } = await placesOf(io.cwd, task.named);
  const watching = watchFolders(
    folders,
    () => {
      isChanged = true;
      wake();
    },
    (error) => io.stderr.write(shown`changes of files are not seen any more: ${error.message}\n`),
  );
  watching.follow(files);
  const off = io.onSignal(() => {
    isStopped = true;
    wake();
  });
  try {
    while (!isStopped) {
      if (isChanged) {
        isChanged = false;
        await checkOnce({ ...task, onFiles: watching.follow });
      }
      if (!isChanged && !isStopped)
        await new Promise<void>((resolveWait) => {
          wake = resolveWait;
        });
    }
  } finally {
    off();
    watching.close();
  }
  return EXIT.done;
}

async function checkOnce(task: Task): Promise<void> {
  const { io, style, json } = task.cli;
  if (io.isTTY && !json) io.stdout.write(control('[2J') + control('[H'));
  try {
    await checkAll(task);
  } catch (error) {
    // A folder may be away for a moment, while it is replaced.
    if (!(error instanceof CliError)) throw error;
    io.stderr.write(`${style.red('error')}: ${error.message}\n`);
  }
  if (!json)
    io.stderr.write(style.dim(`Checked at ${new Date().toLocaleTimeString()}; waiting for changes.`) + '\n');
}

/** The files as they were named, and those of the folders, which are read like those of `weft serve --workflows`. */
async function filesOf(cwd: string, named: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of named) {
    if (await isFolder(cwd, name)) files.push(...(await jsonFilesIn(cwd, name)));
    else files.push(name);
  }
  return files;
}

async function placesOf(cwd: string, named: readonly string[]) {
  const folders: string[] = [];
  const files: string[] = [];
  for (const name of named) ((await isFolder(cwd, name)) ? folders : files).push(resolve(cwd, name));
  return { folders, files };
}

async function isFolder(cwd: string, name: string): Promise<boolean> {
  const found = await stat(resolve(cwd, name)).catch(() => undefined);
  return found?.isDirectory() === true;
}

async function checkFile(file: string, { cli, checkDefinition, onFiles }: Task): Promise<readonly Checked[]> {
  const path = resolve(cli.io.cwd, file);
  const checked: Checked[] = [];
  for (const { text, definition } of await definitionsIn(file, path, onFiles))
    checked.push({ text, report: await checkDefinition(definition) });
  return checked;
}

async function definitionsIn(
  file: string,
  path: string,
  onFiles: Task['onFiles'],
): Promise<readonly { readonly text: string; readonly definition: Json }[]> {
  if (!isCodeFile(file)) {
    const text = await readTextFile(path);
    return [{ text, definition: parseJsonText(file, text) }];
  }
  const { workflows, files } = await loadWorkflows(path);
  onFiles?.(files);
  return workflows.map(({ definition }) => ({ text: '', definition }));
}

/** True when there is nothing to put right. */
function show({ io, style, json }: Cli, file: string, { text, report }: Checked, isStrict: boolean): boolean {
  const { errors, warnings, pinned = [] } = report;
  const isGood = errors.length === 0 && (!isStrict || warnings.length === 0);
  if (json) {
    io.stdout.write(`${JSON.stringify({ file, ok: isGood, ...report })}\n`);
    return isGood;
  }
  const problems = renderReport(style, file, text, report);
  if (problems !== '') io.stdout.write(`${problems}\n`);
  for (const { path, typeId, version } of pinned)
    io.stderr.write(shown`${file}: ${path} would use ${typeId} ${version}\n`);
  if (isGood) io.stderr.write(shown`${file}: ${style.green('ok')}\n`);
  else io.stderr.write(`${countText(errors.length, 'error')}, ${countText(warnings.length, 'warning')}.\n`);
  return isGood;
}

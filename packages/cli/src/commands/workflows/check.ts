import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { WorkflowReport } from '@weft/sdk';
import { isHostError } from '@weft/protocol/plain';
import { type Cli, leaf } from '../../parsing/command.ts';
import { CliError, EXIT } from '../../exit-code.ts';
import { parseJsonText, readTextFile } from '../../parsing/key-values.ts';
import { jsonFilesIn } from '../../parsing/json-files.ts';
import { conformanceFor } from '../../serve/conformance.ts';
import { countText } from '../../output/count-text.ts';
import { renderReport } from '../../output/problem-list.ts';
import { VERSION } from '../../version.ts';
import { shown } from '../../output/terminal-text.ts';

export const check = leaf({
  name: 'check',
  summary: 'Check definitions without a host',
  examples: [
    'weft workflows check examples/workflows/order-fulfilment.json',
    'weft workflows check examples/workflows more/*.json',
    'weft workflows check my.json --strict --json',
  ],
  variadic: true,
  args: {
    file: {
      type: 'positional',
      description: 'Definitions as JSON, or folders of them',
      required: true,
    },
    strict: { type: 'boolean', description: 'Treat warnings as errors' },
    conformance: { type: 'boolean', description: 'Check as a test host would' },
  },
  async run({ cli, args }) {
    const files = await filesOf(cli.io.cwd, args._);
    const checkDefinition = await openChecker(args.conformance === true);
    const isStrict = args.strict === true;
    let bad = 0;
    for (const file of files) {
      // One that cannot be read keeps none of the others from being checked.
      const checked = await checkFile(cli.io.cwd, file, checkDefinition).catch((error: unknown) => {
        if (files.length === 1 || !(error instanceof CliError)) throw error;
        return { text: '', report: reportOf(error) };
      });
      if (!show(cli, file, checked, isStrict)) bad += 1;
    }
    if (!cli.json && files.length > 1)
      cli.io.stderr.write(`${countText(files.length, 'file')}: ${files.length - bad} ok, ${bad} not.\n`);
    return bad === 0 ? EXIT.done : EXIT.failed;
  },
});

interface Checked {
  readonly text: string;
  readonly report: WorkflowReport;
}

type Checker = (definition: unknown) => Promise<WorkflowReport>;

/** The files as they were named, and those of the folders, which are read like those of `weft serve --workflows`. */
async function filesOf(cwd: string, named: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of named) {
    const found = await stat(resolve(cwd, name)).catch(() => undefined);
    if (found?.isDirectory() === true) files.push(...(await jsonFilesIn(cwd, name)));
    else files.push(name);
  }
  return files;
}

async function checkFile(cwd: string, file: string, checkDefinition: Checker): Promise<Checked> {
  const text = await readTextFile(resolve(cwd, file));
  return { text, report: await checkDefinition(parseJsonText(file, text)) };
}

/** True when there is nothing to put right. */
function show({ io, style, json }: Cli, file: string, { text, report }: Checked, isStrict: boolean): boolean {
  const { errors, warnings } = report;
  const isGood = errors.length === 0 && (!isStrict || warnings.length === 0);
  if (json) {
    io.stdout.write(`${JSON.stringify({ file, ok: isGood, ...report })}\n`);
    return isGood;
  }
  const problems = renderReport(style, file, text, report);
  if (problems !== '') io.stdout.write(`${problems}\n`);
  if (isGood) io.stderr.write(shown`${file}: ${style.green('ok')}\n`);
  else io.stderr.write(`${countText(errors.length, 'error')}, ${countText(warnings.length, 'warning')}.\n`);
  return isGood;
}

/** The engine's own compiler, as the host would run it; the host is never started and its store stays empty. */
async function openChecker(isTestHost: boolean): Promise<Checker> {
  const { createHost, openMemoryStore } = await import('@weft/engine');
  const conformance = await conformanceFor(isTestHost);
  const host = createHost({ store: openMemoryStore(), version: VERSION, conformance });
  return async (definition) => {
    try {
      return await host.workflows.check(definition);
    } catch (error) {
      if (!isHostError(error)) throw error;
      return reportOf(error);
    }
  };
}

function reportOf({ code, message }: { readonly code: string; readonly message: string }): WorkflowReport {
  return { errors: [{ path: '', code, message }], warnings: [] };
}

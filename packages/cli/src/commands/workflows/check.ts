import { resolve } from 'node:path';
import type { WorkflowReport } from '@weft/sdk';
import { isHostError } from '@weft/protocol/plain';
import { leaf } from '../../parsing/command.ts';
import { EXIT } from '../../exit-code.ts';
import { parseJsonText, readTextFile } from '../../parsing/key-values.ts';
import { conformanceFor } from '../../serve/conformance.ts';
import { renderReport } from '../../output/problem-list.ts';
import { VERSION } from '../../version.ts';
import { shown } from '../../output/terminal-text.ts';

export const check = leaf({
  name: 'check',
  summary: 'Check a definition without a host',
  examples: [
    'weft workflows check examples/workflows/order-fulfilment.json',
    'weft workflows check my.json --strict --json',
  ],
  args: {
    file: { type: 'positional', description: 'Definition, as JSON', required: true },
    strict: { type: 'boolean', description: 'Treat warnings as errors' },
    conformance: { type: 'boolean', description: 'Check as a test host would' },
  },
  async run({ cli, args }) {
    const { io, style } = cli;
    const path = resolve(io.cwd, args.file);
    const text = await readTextFile(path);
    const report = await checkDefinition(parseJsonText(args.file, text), args.conformance === true);
    const isGood = report.errors.length === 0 && (args.strict !== true || report.warnings.length === 0);
    if (cli.json) io.stdout.write(`${JSON.stringify({ file: args.file, ok: isGood, ...report })}\n`);
    else {
      const problems = renderReport(style, args.file, text, report);
      if (problems !== '') io.stdout.write(`${problems}\n`);
      if (isGood) io.stderr.write(shown`${args.file}: ${style.green('ok')}\n`);
      else io.stderr.write(`${report.errors.length} errors, ${report.warnings.length} warnings.\n`);
    }
    return isGood ? EXIT.done : EXIT.failed;
  },
});

/** The engine's own compiler, as the host would run it; the host is never started and its store stays empty. */
async function checkDefinition(definition: unknown, isTestHost: boolean): Promise<WorkflowReport> {
  const { createHost, openMemoryStore } = await import('@weft/engine');
  const conformance = await conformanceFor(isTestHost);
  const host = createHost({ store: openMemoryStore(), version: VERSION, conformance });
  try {
    return await host.workflows.check(definition);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { errors: [{ path: '', code: error.code, message: error.message }], warnings: [] };
  }
}

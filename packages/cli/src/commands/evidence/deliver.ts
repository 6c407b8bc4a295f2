import {
  type Diff,
  type Evidence,
  explain,
  explanationText,
  htmlReport,
  type Projection,
  reportModel,
  textReport,
  writeDiff,
} from '@weft/evidence';
import { writeOutput } from '@weft/evidence/node';
import type { Cli } from '../../parsing/command.ts';
import { CliError, EXIT, type ExitCode, unusable } from '../../exit-code.ts';
import type { ShownIo } from '../../io.ts';

export interface Delivery {
  readonly output: string | undefined;
  readonly html: string | undefined;
  readonly isView: boolean;
  readonly isCleanRequired: boolean;
  readonly emitsFailed: boolean;
}

/** Lists of a report on a terminal are cut; the document never is. */
const VIEW_LIMIT = 200;

/** Writes the document and the reports that were asked for, and says why when the evidence is not clean. */
export function deliver(
  cli: Cli,
  projection: Projection,
  sides: readonly [Evidence, Evidence],
  how: Delivery,
): ExitCode {
  const { diff } = projection;
  const isFailed = diff.status === 'failed';
  const model = (): ReturnType<typeof reportModel> => reportModel(projection, sides[0], sides[1]);
  if (how.html !== undefined) writeText(how.html, htmlReport(model()));
  if (isFailed && !how.emitsFailed) throw failure(projection);
  if (how.isView) cli.io.stdout.write(`${textReport(model(), VIEW_LIMIT)}\n`);
  else writeDocument(cli.io, diff, how.output);
  if (isFailed) throw failure(projection);
  talk(cli, projection, how.isView);
  return how.isCleanRequired && diff.status !== 'clean' ? EXIT.unmet : EXIT.done;
}

function writeDocument(io: ShownIo, diff: Diff, output: string | undefined): void {
  if (output !== undefined) return guarded(() => writeOutput(output, (write) => writeDiff(diff, write)));
  const decoder = new TextDecoder();
  writeDiff(diff, (piece) => io.stdout.document(decoder.decode(piece)));
}

export function writeText(path: string, text: string): void {
  guarded(() => writeOutput(path, (write) => write(new TextEncoder().encode(text))));
}

/** A folder that cannot be written to is the caller's problem, not a defect. */
function guarded(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw unusable('output_unwritable', `The output cannot be written: ${error.message}`, error);
  }
}

function talk(cli: Cli, projection: Projection, isSaid: boolean): void {
  const explanation = explain(projection);
  const text = isSaid ? '' : explanationText(explanation);
  if (cli.json || text === '') return;
  cli.io.stderr.write(`${explanation.status}: ${explanation.summary}\n${text}\n`);
}

export function failure(projection: Projection): CliError {
  const explanation = explain(projection);
  const message = `The evidence cannot be compared.\n${explanationText(explanation)}`;
  const problems = explanation.reasons.map((problem) => ({ ...problem }));
  return new CliError(EXIT.unusable, 'evidence_unusable', message, { details: { problems } });
}

import type * as Packs from '@weft/packs';
import { CliError, EXIT, type ExitCode } from '../exit-code.ts';

/** Loads the package for the commands that need it; what it refuses ends the command with its code. */
export async function withPacks<Result>(
  run: (packs: typeof Packs) => Promise<Result>,
  refused: ExitCode = EXIT.unusable,
): Promise<Result> {
  const packs = await import('@weft/packs');
  try {
    return await run(packs);
  } catch (error) {
    if (!(error instanceof packs.PackError)) throw error;
    const { code, message, details } = error;
    throw new CliError(refused, code, message, { cause: error, ...(details !== undefined && { details }) });
  }
}

import type { JsonObject } from '@weft/protocol';
import { ApiError, ConnectionError } from '@weft/sdk';
import { NoAnswer } from './connecting/reach-host.ts';
import { visibleText } from './output/terminal-text.ts';

/** What the shell learns. */
export const EXIT = {
  done: 0,
  /** What was asked about failed: a run failed, a check found errors. */
  failed: 1,
  usage: 2,
  /** The input cannot be read, or the host cannot be reached or refuses. */
  unusable: 3,
  /** A required condition does not hold, such as resuming a run that is not paused. */
  unmet: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure with its exit code and the envelope that `--json` shows. The message says what to do. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly details: JsonObject | undefined;

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    options: { details?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.code = code;
    this.details = options.details;
  }
}

export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, 'usage', message);
}

export function unusable(code: string, message: string, cause?: unknown): CliError {
  return new CliError(EXIT.unusable, code, message, cause === undefined ? {} : { cause });
}

/** Any failure as one with an exit code; undefined for a defect of ours, which keeps its stack. */
export function toCliError(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  if (error instanceof ConnectionError) {
    const advice = error.cause instanceof NoAnswer ? error.cause.message : '.';
    const message = `No host answers at ${error.url}${advice}`;
    const refused = /refused/i.test(error.message);
    return unusable('host_unreachable', refused ? message : `${message}\n${error.message}`, error);
  }
  if (error instanceof ApiError) {
    const details = error.details === undefined ? {} : { details: error.details };
    return new CliError(
      error.status === 409 ? EXIT.unmet : EXIT.unusable,
      error.code,
      messageOf(error),
      details,
    );
  }
  return undefined;
}

function messageOf(error: ApiError): string {
  const message = visibleText(error.message);
  if (error.status === 401)
    return `${message}\nSet WEFT_API_KEY, or pass --data with the host's data folder.`;
  return error.retryAfter === undefined ? message : `${message} Try again in ${error.retryAfter} s.`;
}

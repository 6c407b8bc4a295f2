import { RE2JS, RE2JSException } from 're2js';
import { ExpressionError } from './plan.ts';

/**
 * Regular expressions of strangers, on an automaton instead of a backtracking matcher. The time of one test grows with
 * (length of the text) × (size of the program), and both factors are bounded here, so no pattern can stall the host.
 */

const MAX_PATTERN_BYTES = 1024;
/** Instructions of the compiled pattern; counted repetitions multiply them. */
const MAX_PROGRAM = 4_000;
/** Characters × instructions of one test: about half a second in the worst case. */
const MAX_WORK = 40_000_000;

export interface LinearRegex {
  /** True when the pattern occurs anywhere in the text, as `RegExp.prototype.test` without flags. */
  test(text: string): boolean;
}

const utf8 = new TextEncoder();

/** Throws ExpressionError when the pattern is too long, too large or uses what a linear-time engine cannot do. */
export function compileLinearRegex(pattern: string): LinearRegex {
  if (pattern.length > MAX_PATTERN_BYTES || utf8.encode(pattern).length > MAX_PATTERN_BYTES) {
    throw new ExpressionError(`The pattern is longer than ${MAX_PATTERN_BYTES} bytes; shorten it.`);
  }
  const program = compileProgram(pattern);
  const size = program.programSize();
  if (size > MAX_PROGRAM) {
    throw new ExpressionError(
      `The pattern compiles to ${size} instructions, more than ${MAX_PROGRAM}; use smaller repetition counts.`,
    );
  }
  const maxLength = Math.floor(MAX_WORK / Math.max(size, 1));
  return {
    test: (text) => {
      if (text.length > maxLength) {
        throw new ExpressionError(
          `The text has ${text.length} characters; this pattern is tested on at most ${maxLength}.`,
        );
      }
      return program.test(text);
    },
  };
}

/** An odd number of backslashes before a group number or name. */
const BACKREFERENCE = /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/;
const LOOKAROUND = /(?:^|[^\\])(?:\\\\)*\(\?<?[=!]/;

function compileProgram(pattern: string): RE2JS {
  // Asked before the translation, which would turn \k<name> into ordinary letters.
  if (BACKREFERENCE.test(pattern)) {
    throw new ExpressionError(
      'The pattern uses a backreference, which cannot be matched in linear time; compare the parts in an expression instead.',
    );
  }
  if (LOOKAROUND.test(pattern)) {
    throw new ExpressionError(
      'The pattern uses lookaround, which cannot be matched in linear time; write the condition without (?=, (?!, (?<= and (?<!.',
    );
  }
  try {
    // Translation covers what JavaScript spells differently (\uXXXX, \cX, named groups).
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSException) && !(error instanceof RangeError)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    throw new ExpressionError(`The pattern is not a valid regular expression: ${reason}.`, { cause: error });
  }
}

/** What a problem does to a diff. A `note` changes nothing but is worth knowing. */
export type Effect = 'failed' | 'partial:health' | 'partial:correlation' | 'note';

/** One thing that keeps evidence from being clean: where it stands, what was found, what is needed. */
export interface Problem {
  readonly code: string;
  readonly effect: Effect;
  /** The file inside the evidence set, or `declared` for what the caller says about it. */
  readonly file: string;
  /** A JSON pointer, a line, a byte or a flag. */
  readonly field: string;
  readonly found: string;
  readonly needed: string;
  /** What may still be read from the evidence in spite of it. */
  readonly readable: string;
  /** The one contract it matters to; absent when it matters to both. */
  readonly only?: 'capability' | 'cross';
}

export type Side = 'base' | 'head';

export interface SideProblem extends Problem {
  readonly side: Side;
}

/** What may still be read when a file cannot be. */
export const READABLE = {
  nothing: 'Nothing of this file. The other files of the run are unaffected.',
  noDiff: 'The run alone can still be looked at (show); no diff can be made from it.',
  drops:
    'Every value listed was observed. A value that is missing may have been lost, so "removed" proves nothing.',
  health: 'The values listed were observed; that the list is complete is not established.',
  correlation: 'The surface sets are unaffected; no value may be attributed to a single call.',
  all: 'Everything; this is information only.',
} as const;

/** Counts what a scan does, in characters looked at. Tests give one to see that the work grows with the text and not faster. */
export interface Work {
  steps: number;
}

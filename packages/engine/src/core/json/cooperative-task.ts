/**
 * Long work in short pieces. The work itself stays pure and knows no clock: it says at every `yield` that this is a good
 * place to let others go first, and the caller decides.
 */
export type CooperativeTask<Result> = Generator<undefined, Result, undefined>;

/** All of it at once. */
export function finish<Result>(steps: CooperativeTask<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What a correct host holds to with runs that start by themselves. */
export const STARTED_RULES = [
  { id: 'S1', rule: 'A due time starts one run at most, and none before it is due.' },
  { id: 'S2', rule: 'Every due time has its run, or was skipped as its policy and catch-up window say.' },
  { id: 'S3', rule: 'Runs of a schedule overlap only where its policy lets them.' },
  { id: 'S4', rule: 'A schedule comes to its end, and has counted what it started.' },
  { id: 'S5', rule: 'A schedule that is started by hand starts one run per key.' },
  { id: 'S6', rule: 'A delivery id starts one run, however often and wherever it arrives.' },
  { id: 'S7', rule: 'A delivery that cannot start a run is one dead letter.' },
  { id: 'S8', rule: 'A forged delivery is refused, and starts nothing.' },
] as const;

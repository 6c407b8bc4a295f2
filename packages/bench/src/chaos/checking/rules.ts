import { STARTED_RULES } from '../started/started-rules.ts';
import type { EventDocument, FinalRun, History } from './history.ts';

/** What a correct host holds to, whatever goes wrong around it. */
export const HISTORY_RULES = [
  { id: 'C1', rule: 'An acknowledged run exists, and one request made one run.' },
  { id: 'C2', rule: 'An event that was streamed is in the log, word for word.' },
  { id: 'C3', rule: 'A stream is a contiguous piece of the log, beginning where it was asked to.' },
  { id: 'C4', rule: 'Every log is legal: no gap, one terminal event, nothing after it.' },
  { id: 'C5', rule: 'Every run has ended as its log says, or waits for a reason.' },
  { id: 'C6', rule: 'No effect is fired again after its outcome was visible.' },
  {
    id: 'C7',
    rule: 'An effect has one invocation id, however often it is fired, and shares it with no other.',
  },
  { id: 'C8', rule: 'An answer that was taken is in the log, once, and one that was refused is not.' },
  { id: 'C9', rule: 'A question is resolved once, and takes no more answers than it asks for.' },
  {
    id: 'C10',
    rule: 'A run that was said to be cancelled is, and one that was said to have ended otherwise did.',
  },
  { id: 'C11', rule: 'Every child that a log announces exists, and no other.' },
  { id: 'C12', rule: 'No client gets an internal error, or a rejection without a remedy.' },
  { id: 'C13', rule: 'No process ends by itself.' },
  { id: 'C14', rule: 'A fork is made once, and its log begins word for word as that of its source.' },
  { id: 'C15', rule: 'A replay says what its source says, and nothing else.' },
  {
    id: 'C16',
    rule: 'What is delivered is signed, stands in the log, and is never about a replay or an import.',
  },
  { id: 'C17', rule: 'Every event that a webhook waits for is delivered.' },
  { id: 'C18', rule: 'Events of one run reach a webhook in order.' },
  { id: 'C19', rule: 'Every interrupt of a run with a callback is sent there, and nowhere else.' },
  { id: 'C20', rule: 'An import has the events of its bundle, and a bundle makes one run.' },
  {
    id: 'C21',
    rule: 'A removed run stays removed; none is removed unasked, or while a fork needs it.',
  },
  { id: 'C22', rule: 'An erased run keeps its log, word for word, and shows its inputs no more.' },
  { id: 'C23', rule: 'No input and no secret stands in a log, a bundle or a delivery.' },
  { id: 'C24', rule: 'An artifact that a log names is there, whole, as the service has sent it.' },
  { id: 'C25', rule: 'What a log says was remembered is remembered, once.' },
  { id: 'C26', rule: 'What was said about a run is kept, once.' },
  { id: 'C27', rule: 'A run that ends processes is quarantined, and no other is.' },
  { id: 'C28', rule: 'The outputs of a task on record are those of its last performance.' },
  { id: 'C29', rule: 'No performance of a task begins after its outcome was visible.' },
  { id: 'C30', rule: 'No two workers perform one attempt of a task at the same time.' },
  { id: 'C31', rule: 'A task whose outcome may not be unknown is performed once at most.' },
  { id: 'C32', rule: 'A turn or a call of an agent whose outcome is on record is not made again.' },
  ...STARTED_RULES,
] as const;

export type HistoryRuleId = (typeof HISTORY_RULES)[number]['id'];

export interface HistoryViolation {
  readonly rule: HistoryRuleId;
  readonly runId?: string;
  readonly message: string;
}

/** Facts looked at, by rule. */
export type FactCounts = Readonly<Record<HistoryRuleId, number>>;

export interface CheckResult {
  readonly violations: readonly HistoryViolation[];
  readonly facts: FactCounts;
}

export interface ReadRun extends FinalRun {
  readonly events: readonly EventDocument[];
}

export interface Check {
  readonly history: History;
  /** Those whose logs are whole: a fork loses its beginning with the run it came from. */
  readonly runs: ReadonlyMap<string, ReadRun>;
  /** Runs that an operator removed. */
  readonly removed: ReadonlySet<string>;
  fact(rule: HistoryRuleId): void;
  report(rule: HistoryRuleId, message: string, runId?: string): void;
}

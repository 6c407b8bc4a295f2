/**
 * Every kind of question on the wire, one row each: the status of a run that waits for its answer, and what it waits for in
 * words. The engine and the command line have a table by `InterruptKind`, so that a new kind does not compile before both
 * know what to do with it.
 */
interface Waiting {
  readonly waitsAs: 'waiting-approval' | 'waiting-input' | 'waiting-external';
  readonly waitsFor: string;
}

/** Only announced: no run waits for an answer. */
const ANNOUNCED = undefined;

const KINDS = {
  approval: { waitsAs: 'waiting-approval', waitsFor: 'an approval' },
  clarification: { waitsAs: 'waiting-input', waitsFor: 'answers to its questions' },
  'external-event': { waitsAs: 'waiting-external', waitsFor: 'an external event' },
  custom: { waitsAs: 'waiting-input', waitsFor: 'an answer' },
  'conversation.start': ANNOUNCED,
  'conversation.exchange': { waitsAs: 'waiting-approval', waitsFor: 'the next turn of a conversation' },
  'conversation.close': ANNOUNCED,
  'low-confidence': { waitsAs: 'waiting-approval', waitsFor: 'a person to confirm a decision' },
} as const satisfies Readonly<Record<string, Waiting | undefined>>;

type AnyKind = keyof typeof KINDS;

/** The kinds that a run can wait for. */
export type InterruptKind = {
  [Kind in AnyKind]: (typeof KINDS)[Kind] extends undefined ? never : Kind;
}[AnyKind];

export const INTERRUPT_KINDS = Object.keys(KINDS) as readonly AnyKind[];

/** Of any kind, also one that a newer host has asked with: undefined where it is not known that a run waits. */
export function waitingFor(kind: string): Waiting | undefined {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as AnyKind] : undefined;
}

import type { RequirementTable } from '../../requirements/requirement.ts';

/** Answers from outside, with a signed link in place of a key. */
export const INTERRUPTS_TOKEN_REQUIREMENTS = {
  'INT-30': {
    document: 'conformance-1.0.0',
    section: 'interrupt-external-event-correlation',
    level: 'MUST',
    text: 'A run that waits for an external event is waiting-external, and its snapshot has interrupt.interruptToken or interrupt.callbackUrl.',
    reading: 'Statuses of 1.0.0 lack waiting-external in one schema; its scenario demands it.',
  },
  'INT-31': {
    document: 'interrupt',
    section: 'POST /v1/interrupts/{token}',
    level: 'MUST',
    text: 'The token alone resolves the interrupt, without a key.',
  },
  'INT-32': {
    document: 'conformance-1.0.0',
    section: 'interrupt-external-event-correlation',
    level: 'MUST',
    text: 'An event that holds every member of the declared correlation with the same value resolves the interrupt, whatever else it holds.',
    reading: 'Whether more than the declared members may be compared is open; the fixture needs the subset.',
  },
  'INT-33': {
    document: 'conformance-1.0.0',
    section: 'interrupt-external-event-correlation',
    level: 'MUST',
    text: 'An event that differs in its correlation is refused with 422 or 400, and the run keeps waiting.',
  },
  'INT-34': {
    document: 'interrupt',
    section: 'openwop-interrupt-external-event',
    level: 'MUST',
    text: 'The same event sent twice resolves the interrupt once.',
  },
  'INT-35': {
    document: 'interrupt',
    section: 'GET /v1/interrupts/{token}',
    level: 'MUST',
    text: 'A token shows its interrupt without a key: kind, key and data, and otherwise only resumeSchema and timeoutMs.',
    reading:
      'RFC 0093 also requires requestedAt, expiresAt and resolved; they are accepted, no other member is.',
  },
  'INT-36': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'A token is no longer valid once its interrupt is resolved: it neither shows nor resolves it.',
    reading: 'The code is 409 interrupt_already_resolved; 404 and 410 are accepted.',
  },
  'INT-37': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'A token is no longer valid once its run is cancelled.',
    reading: 'The code is 409 interrupt_already_resolved; 404, 410 and 422 are accepted.',
  },
  'INT-38': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'A token that was altered or made up is refused like any unknown one, and the run keeps waiting.',
    reading: 'The status is open: 400, 401, 403, 404 and 410 are accepted.',
  },
  'INT-39': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'A token names its run, node, interrupt, expiry and intent, expires, and not after the deadline of its interrupt.',
    reading: 'A host may hand out random texts in place of signed ones; then they have at least 128 bits.',
  },
  'INT-40': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'SHOULD',
    text: 'Tokens are in the snapshot of the owner and never in the event log.',
    reading:
      'The table of nodes of 1.0.0 has interruptToken in node.suspended; a reader of events could then resolve, so the later rule is proven.',
  },
  'INT-41': {
    document: 'interrupt',
    section: 'Errors',
    level: 'MUST',
    text: 'A token past its expiry is answered with 410 interrupt_expired.',
    notTested: 'tokens last a minute at least; the suite does not wait for it',
  },
  'INT-42': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'A token with the intent inspect shows the interrupt and is refused with 403 when it is used to resolve.',
    notTested: 'no operation of the protocol hands out such a token',
  },
  'INT-43': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'MUST',
    text: 'The signature of a token is compared in constant time.',
    notTested: 'timing cannot be measured reliably over a network',
  },
  'INT-44': {
    document: 'interrupt',
    section: 'Tokens',
    level: 'SHOULD',
    text: 'Signing secrets overlap while they are rotated.',
    notTested: 'rotation is done by the operator',
  },
  'INT-45': {
    document: 'interrupt',
    section: 'openwop-interrupt-external-event',
    level: 'MUST',
    text: 'What the external event brought is kept, redacted, in the log or the state of the run.',
    notTested: 'where it is kept, and under which name, is left to the host',
  },
  'INT-46': {
    document: 'rest-endpoints',
    section: 'Order of checks',
    level: 'SHOULD',
    text: 'A token is checked before the body: with a made-up one nothing is said about the body.',
  },
} as const satisfies RequirementTable;

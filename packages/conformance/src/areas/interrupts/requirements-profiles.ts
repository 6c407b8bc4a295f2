import type { RequirementTable } from '../../requirements/requirement.ts';

/** Quorum, elevation, and interrupts between parent and child. Each concerns the hosts that list its fixture. */
export const INTERRUPTS_PROFILE_REQUIREMENTS = {
  'INT-46': {
    document: 'conformance-1.0.0',
    section: 'interrupt-quorum-resolution',
    level: 'MUST',
    text: 'Votes below the required number are accepted with 2xx and leave the run waiting-approval; the vote that reaches it completes the run.',
    reading:
      'The scenario sends all votes with one key and tells voters apart by the member voter; a host may insist on principals only where it restricts approvers.',
  },
  'INT-47': {
    document: 'interrupt',
    section: 'openwop-interrupt-quorum',
    level: 'MUST',
    text: 'A voter counts once: the same vote again changes nothing.',
  },
  'INT-48': {
    document: 'interrupt',
    section: 'openwop-interrupt-quorum',
    level: 'MUST',
    text: 'A voter who votes differently replaces the earlier vote.',
  },
  'INT-49': {
    document: 'interrupt',
    section: 'openwop-interrupt-quorum',
    level: 'MUST',
    text: 'With the policy majority more than half of the required number of rejections ends the run, and not as completed.',
    reading: 'More than half of the votes that are required, not of those that were cast.',
  },
  'INT-50': {
    document: 'interrupt',
    section: 'openwop-interrupt-quorum',
    level: 'MUST',
    text: 'A list of approvers is enforced by the host, and a bearer cannot vote under invented names.',
    notTested: 'no fixture has a list of approvers',
  },
  'INT-51': {
    document: 'interrupt',
    section: 'openwop-interrupt-quorum',
    level: 'MUST',
    text: 'Every vote is recorded with actor, time and action.',
    notTested: 'which event records a vote is left to the host',
  },
  'INT-52': {
    document: 'conformance-1.0.0',
    section: 'interrupt-auth-required-resume',
    level: 'MUST',
    text: 'A gate that demands authentication is resolved with a key of the right scope, and the run completes.',
  },
  'INT-53': {
    document: 'interrupt',
    section: 'openwop-interrupt-auth-required',
    level: 'MUST',
    text: 'A gate that demands authentication answers 401 without a credential.',
  },
  'INT-54': {
    document: 'interrupt',
    section: 'openwop-interrupt-auth-required',
    level: 'MUST',
    text: 'A gate that demands authentication is never resolved by a signed token.',
  },
  'INT-55': {
    document: 'conformance-1.0.0',
    section: 'interrupt-parent-child-cascade',
    level: 'MUST',
    text: 'While a child waits its parent shows the same waiting status, and lists the child in childRuns.',
  },
  'INT-56': {
    document: 'conformance-1.0.0',
    section: 'interrupt-parent-child-cascade',
    level: 'MUST',
    text: 'A cancelled parent cancels its waiting child, and both end cancelled.',
  },
  'INT-57': {
    document: 'interrupt',
    section: 'openwop-interrupt-cascade-cancel',
    level: 'MUST',
    text: 'The run.cancelled of such a child has the reason parent-cancelled and the parentRunId; that of a run cancelled directly has no parentRunId.',
  },
  'INT-58': {
    document: 'conformance-1.0.0',
    section: 'interrupt-parent-child-cascade',
    level: 'MUST',
    text: 'The interrupt of such a child can no longer be resolved.',
    reading: '410 interrupt_gone is preferred; 409, 404 and 422 are accepted.',
  },
  'INT-59': {
    document: 'interrupt',
    section: 'openwop-interrupt-cascade-cancel',
    level: 'MUST',
    text: 'When the interrupt of a child is resolved and the child completes, its parent continues.',
  },
  'INT-60': {
    document: 'interrupt',
    section: 'openwop-interrupt-cascade-cancel',
    level: 'MUST',
    text: 'A child that is cancelled by itself ends its parent as well.',
    reading: 'The end is failed or cancelled: hosts differ, each for itself always in the same way.',
  },
} as const satisfies RequirementTable;

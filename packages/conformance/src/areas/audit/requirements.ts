import type { ProfileId } from '../../requirements/profiles.ts';
import type { RequirementTable } from '../../requirements/requirement.ts';

const PROFILES: readonly ProfileId[] = ['openwop-audit-log-integrity'];

export const AUDIT_REQUIREMENTS = {
  'AUDIT-1': {
    document: 'conformance-1.0.0',
    section: 'audit-log-integrity',
    level: 'MUST',
    text: 'A host that claims the profile advertises a hash chain, the algorithm ed25519 and its public key.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-2': {
    document: 'conformance-1.0.0',
    section: 'audit-log-integrity',
    level: 'MUST',
    text: 'The log is intact: for entries 0 to 100 chainValid is true and there are no anomalies, after recorded actions.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-3': {
    document: 'auth',
    section: 'GET /v1/audit/verify',
    level: 'MUST',
    text: 'The answer has fromSeq, toSeq, chainValid, checkpoints and anomalies, may have checkpointsValid, and nothing else.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-4': {
    document: 'auth',
    section: 'GET /v1/audit/verify',
    level: 'MUST',
    text: 'A checkpoint has its name, atSequence, a hexadecimal merkleRoot and a signature in base64, and nothing else; checkpoints ascend, and are no further apart than advertised.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
    reading: 'The prose has the time of a checkpoint too; the result schema is closed without it.',
  },
  'AUDIT-5': {
    document: 'auth',
    section: 'Checkpoints',
    level: 'MUST',
    text: 'The signature of a checkpoint is valid under the advertised key.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
    reading:
      'What is signed differs: the root, as bytes or as text, or the canonical JSON of the checkpoint without its signature. Each is accepted. A log without a checkpoint yet has none to verify.',
  },
  'AUDIT-6': {
    document: 'auth',
    section: 'GET /v1/audit/verify',
    level: 'MUST',
    text: 'A range that is negative, not a number, or ends before it begins is refused with 400.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-7': {
    document: 'auth',
    section: 'GET /v1/audit/verify',
    level: 'MUST',
    text: 'A range beyond the end of the log is cut to what exists.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-8': {
    document: 'auth',
    section: 'audit:read',
    level: 'MUST',
    text: 'The log is not verified for callers without a credential.',
    gate: 'auditIntegrity',
    profiles: PROFILES,
  },
  'AUDIT-9': {
    document: 'auth',
    section: 'audit:read',
    level: 'MUST',
    text: 'The log is not verified for keys that lack audit:read.',
    gate: 'auditIntegrity',
  },
  'AUDIT-10': {
    document: 'auth',
    section: 'openwop-audit-log-integrity',
    level: 'MUST',
    text: 'The store only appends, every entry has the hash of the one before, and the key signs nothing else.',
    gate: 'auditIntegrity',
    notTested: 'entries and keys are not visible from outside',
  },
  'AUDIT-11': {
    document: 'auth',
    section: 'openwop-audit-log-integrity',
    level: 'MUST',
    text: 'Creating and cancelling runs, resolving interrupts, overrides and denials are recorded.',
    gate: 'auditIntegrity',
    notTested: 'no operation of the protocol reads entries',
  },
} as const satisfies RequirementTable;

import type { RequirementTable } from '../../requirements/requirement.ts';

const CORE = ['openwop-core', 'openwop-core-standard'] as const;

export const VERSIONS_REQUIREMENTS = {
  'VER-1': {
    document: 'conformance-1.0.0',
    section: 'version-negotiation',
    level: 'MUST',
    text: 'The protocolVersion is a text of the form MAJOR.MINOR, without leading zeros.',
    reading:
      'Tests of 1.0.0 accept 1.0.0 as well; the later grammar, which has no patch part, is what is proven.',
    profiles: CORE,
  },
  'VER-2': {
    document: 'version-negotiation',
    section: 'protocolVersions (RFC 0165)',
    level: 'MUST',
    text: 'A list protocolVersions holds versions of the same form, and protocolVersion among them.',
    profiles: CORE,
  },
  'VER-3': {
    document: 'version-negotiation',
    section: 'Version axes',
    level: 'MUST',
    text: 'Both engineVersion and eventLogSchemaVersion of discovery are whole numbers of 0 or more.',
    profiles: CORE,
  },
  'VER-4': {
    document: 'conformance-1.0.0',
    section: 'version-negotiation',
    level: 'MUST',
    text: 'Every event has eventId, runId, type, payload, timestamp and sequence; payload may be null but is never left out.',
    profiles: CORE,
  },
  'VER-5': {
    document: 'conformance-1.0.0',
    section: 'version-negotiation',
    level: 'MUST',
    text: 'The sequences of a run increase strictly.',
    profiles: CORE,
  },
  'VER-6': {
    document: 'conformance-1.0.0',
    section: 'version-negotiation',
    level: 'MUST',
    text: 'Polling after the last event is answered with 200 and no events, never with 400, 404 or 416.',
    profiles: CORE,
  },
  'VER-7': {
    document: 'version-negotiation',
    section: 'Version axes',
    level: 'MUST',
    text: 'An event’s schemaVersion is a whole number of 0 or more, its engineVersion a text.',
    profiles: CORE,
  },
  'VER-8': {
    document: 'version-negotiation',
    section: 'Version axes',
    level: 'MUST',
    text: 'A snapshot’s eventLogSchemaVersion is a whole number of 0 or more, its engineVersion a text or a number.',
    reading:
      'engineVersion of a snapshot was a text until September 2026 and is a number since; either is accepted.',
    profiles: CORE,
  },
  'VER-9': {
    document: 'version-negotiation',
    section: 'Unknown events',
    level: 'MUST',
    text: 'Readers ignore types of events that they do not know, and later versions of events.',
    notTested: 'a rule for readers, not for hosts',
  },
  'VER-10': {
    document: 'version-negotiation',
    section: 'X-Force-Engine-Version',
    level: 'MUST',
    text: 'The forceEngineVersionRange of testing has min and max, whole numbers of 0 or more, in this order.',
    gate: 'forcedVersions',
  },
  'VER-11': {
    document: 'rfc-0094',
    section: 'Conformance: version-fold',
    level: 'MUST',
    text: 'A run forced to the lowest, the current and the highest engine version completes, and can be read and polled.',
    gate: 'forcedVersions',
  },
  'VER-12': {
    document: 'version-negotiation',
    section: 'X-Force-Engine-Version',
    level: 'MUST',
    text: 'An engine version outside the range is refused with 400, unsupported_force_engine_version and the range in details.',
    gate: 'forcedVersions',
  },
  'VER-13': {
    document: 'version-negotiation',
    section: 'X-Force-Engine-Version',
    level: 'MUST',
    text: 'An engine version that is not a whole number of 0 or more is refused with 400.',
    gate: 'forcedVersions',
  },
  'VER-14': {
    document: 'version-negotiation',
    section: 'X-Force-Engine-Version',
    level: 'MUST',
    text: 'With a production key the header is refused with 403 and force_engine_version_forbidden.',
    notTested: 'the suite must not be given a production key',
  },
  'VER-15': {
    document: 'version-negotiation',
    section: 'Engine versions',
    level: 'MUST',
    text: 'A host refuses a run that a newer engine has written, with engine_version_mismatch, and does not guess.',
    notTested: 'no run of a newer engine can be brought into a host from outside',
  },
  'VER-16': {
    document: 'version-negotiation',
    section: 'Pinned changes',
    level: 'MUST',
    text: 'The version of a change that a workflow asks for is recorded by version.pinned at the first call, and stays the same.',
    notTested: 'only code inside a host can ask about a change',
  },
  'VER-17': {
    document: 'version-negotiation',
    section: 'Active runs',
    level: 'MUST',
    text: 'A change of what discovery says does not change the version of runs that are running.',
    notTested: 'a host does not change what it offers while the suite looks at it',
  },
} as const satisfies RequirementTable;

import type { JsonObject } from '@weft/protocol';
import { answered, omit, succeeds } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY } from '../../mutants/targets.ts';

const VERIFY = { method: 'GET', path: /^\/v1\/audit\/verify/ };
const VALID: JsonObject = { fromSeq: 0, toSeq: 0, chainValid: true, checkpoints: [], anomalies: [] };
const FORGED: JsonObject = {
  checkpoint: 'checkpoint-0',
  atSequence: 1,
  merkleRoot: '00'.repeat(32),
  signature: Buffer.alloc(64, 1).toString('base64'),
};

function checkpoints(...list: JsonObject[]) {
  return answered((body) => (body['error'] === undefined ? { ...body, checkpoints: list } : body));
}

export const AUDIT_MUTANTS: readonly Mutant[] = [
  {
    id: 'audit/no-public-key',
    breaks: 'discovery does not have the key of the checkpoints',
    caughtBy: ['audit/discovery'],
    says: /checkpointPublicKey is a text/,
    on: DISCOVERY,
    answer: answered((body) => ({
      ...body,
      auth: {
        profiles: ['openwop-audit-log-integrity'],
        auditLogIntegrity: { hashChain: true, checkpointSignatureAlgorithm: 'ed25519' },
      },
    })),
  },
  {
    id: 'audit/broken-chain',
    breaks: 'the chain is broken',
    caughtBy: ['audit/whole', 'audit/ranges'],
    says: /chainValid is true/,
    on: VERIFY,
    answer: answered((body) => (body['error'] === undefined ? { ...body, chainValid: false } : body)),
  },
  {
    id: 'audit/anomaly',
    breaks: 'an entry was changed afterwards',
    caughtBy: ['audit/whole'],
    says: /there are no anomalies/,
    on: VERIFY,
    answer: answered((body) => ({
      ...body,
      anomalies: [{ atSeq: 1, expectedPrevHash: 'a', actualPrevHash: 'b' }],
    })),
  },
  {
    id: 'audit/anomalies-left-out',
    breaks: 'a list that is empty is left out',
    caughtBy: ['audit/whole'],
    says: /anomalies is a list/,
    on: VERIFY,
    answer: answered((body) => omit(body, 'anomalies')),
  },
  {
    id: 'audit/entries-shown',
    breaks: 'the verification shows entries',
    caughtBy: ['audit/whole'],
    says: /a verification has no other members/,
    on: VERIFY,
    answer: answered((body) => ({ ...body, entries: [] })),
  },
  {
    id: 'audit/forged-checkpoint',
    breaks: 'a checkpoint is signed with another key',
    caughtBy: ['audit/checkpoints'],
    says: /the signature of a checkpoint is valid/,
    on: VERIFY,
    answer: checkpoints(FORGED),
  },
  {
    id: 'audit/checkpoint-with-time',
    breaks: 'a checkpoint has members that are not declared',
    caughtBy: ['audit/checkpoints'],
    says: /a checkpoint has no other members/,
    on: VERIFY,
    answer: checkpoints({ ...FORGED, ts: '2026-01-01T00:00:00Z' }),
  },
  {
    id: 'audit/checkpoints-too-rare',
    breaks: 'checkpoints are further apart than advertised',
    caughtBy: ['audit/checkpoints'],
    says: /no further apart than advertised/,
    on: VERIFY,
    answer: checkpoints({ ...FORGED, atSequence: 100_000 }),
  },
  {
    id: 'audit/any-range-taken',
    breaks: 'a range that ends before it begins is taken',
    caughtBy: ['audit/ranges'],
    says: /status 400/,
    on: VERIFY,
    answer: succeeds(VALID),
  },
  {
    id: 'audit/range-refused',
    breaks: 'a range beyond the end of the log is refused',
    caughtBy: ['audit/ranges'],
    says: /status 200/,
    on: { method: 'GET', path: /toSeq=999999999/ },
    answer: (answer) => ({ ...answer, status: 404 }),
  },
  {
    id: 'audit/open-to-all',
    breaks: 'the log is verified for callers without a credential',
    caughtBy: ['audit/no-credential'],
    says: /status 401/,
    on: VERIFY,
    answer: succeeds(VALID),
  },
];

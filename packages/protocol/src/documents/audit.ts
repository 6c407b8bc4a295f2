import { type Static, Type } from 'typebox';
import { closed, count, jsonObject, nonEmpty, open } from './schema-parts.ts';

const optional = Type.Optional;

const AuditCheckpointSchema = closed({
  checkpoint: Type.String({ minLength: 1, maxLength: 256 }),
  atSequence: count,
  merkleRoot: Type.String({
    minLength: 1,
    description: 'RFC 6962 tree over the hashes of the entries 0 to atSequence, hex.',
  }),
  signature: Type.String({ minLength: 1, description: 'Ed25519 over the 32 raw bytes of the root, base64.' }),
});

const AuditAnomalySchema = closed({
  atSeq: Type.Integer({
    minimum: 0,
    description: 'Whose previous hash is wrong: the entry after the one that was touched.',
  }),
  expectedPrevHash: Type.String({ minLength: 1, description: 'What the entry before it gives now, hex.' }),
  actualPrevHash: Type.String({ description: 'What was recorded; empty when there is no record.' }),
});

/** What a verification of the audit log found. Closed, unlike other answers: the protocol wants it so. */
export const AuditVerificationSchema = closed({
  fromSeq: count,
  toSeq: Type.Integer({ minimum: 0, description: 'As asked, or the end of the log when that comes first.' }),
  chainValid: Type.Boolean({
    description:
      'Every entry gives its recorded hash, no checkpoint is wrong, and the log still holds what this host has sealed last.',
  }),
  checkpointsValid: optional(
    Type.Boolean({ description: 'Absent when the host has no key to check them with.' }),
  ),
  checkpoints: Type.Array(AuditCheckpointSchema),
  anomalies: Type.Array(AuditAnomalySchema, { description: 'At most the first 1,000.' }),
});

export const AuditExportPageSchema = open({
  lines: Type.Array(jsonObject, { description: 'Lines of the file that can be verified without the host.' }),
  nextCursor: optional(Type.String({ description: 'Absent on the last page.' })),
});

/** How the audit log is protected, in discovery. */
export const AuditIntegritySchema = closed({
  hashChain: Type.Literal(true),
  checkpointSignatureAlgorithm: Type.Literal('ed25519'),
  checkpointPublicKey: nonEmpty,
  checkpointIntervalEntries: count,
  checkpointIntervalSeconds: count,
});

export type AuditVerificationDocument = Static<typeof AuditVerificationSchema>;

import { Type } from 'typebox';
import { AuditExportPageSchema, AuditVerificationSchema } from '../documents/audit.ts';
import { describeRoutes } from './route-description.ts';
import { name } from '../documents/schema-parts.ts';

/** The audit log: whether it is what it was, and all of it to carry away. */
export const AUDIT_ROUTES = describeRoutes({
  verifyAuditLog: {
    scope: 'audit:read',
    summary:
      'Verifies the audit log against its hash chain and its signed checkpoints. Shows sequences and hashes only.',
    query: [
      { name: 'fromSeq', description: 'First sequence. Default: 0.', schema: Type.Integer({ minimum: 0 }) },
      {
        name: 'toSeq',
        description: 'Last sequence, not before fromSeq; beyond the end means the end, which is the default.',
        schema: Type.Integer({ minimum: 0 }),
      },
    ],
    responses: { 200: { description: 'What was found.', schema: AuditVerificationSchema } },
    errors: ['validation_error'],
  },
  exportAudit: {
    scope: 'host:admin',
    summary: 'The audit log of all tenants with its links and checkpoints, as the lines of a file.',
    query: [{ name: 'cursor', description: 'The nextCursor of the answer before.', schema: name }],
    responses: { 200: { description: 'A page of lines.', schema: AuditExportPageSchema } },
    errors: ['validation_error'],
  },
});

import { HostError } from '@weft/protocol';
import { type Routes, sendJson } from '../../app-context.ts';
import { integerParam, queryOf, textParam } from '../../http/query.ts';

const ANY_SEQUENCE = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** Whether the audit log is intact, and the log itself for the operator. */
export const auditRoutes: Routes = (serve, context) => {
  serve.everywhere('verifyAuditLog', {}, async (call) => {
    const query = queryOf(call);
    const fromSeq = integerParam(query, 'fromSeq', ANY_SEQUENCE) ?? 0;
    const toSeq = integerParam(query, 'toSeq', ANY_SEQUENCE) ?? Number.MAX_SAFE_INTEGER;
    if (toSeq < fromSeq) {
      throw new HostError('validation_error', 'The parameter "toSeq" must not be smaller than "fromSeq".', {
        field: 'toSeq',
        min: fromSeq,
      });
    }
    return { status: 200, body: JSON.stringify(await context.host.audit.verify(fromSeq, toSeq)) };
  });

  serve('exportAudit', async (request, reply) => {
    const page = await context.host.audit.export(textParam(queryOf(request), 'cursor'));
    return sendJson(reply, 200, JSON.stringify(page));
  });
};

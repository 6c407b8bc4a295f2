import type { AuditEntry } from '@weft/engine';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createDenials } from './denials.ts';

const request = {
  id: 'r1',
  method: 'GET',
  ip: '203.0.113.7',
  routeOptions: { url: '/v1/runs/:runId' },
} as FastifyRequest;

describe('denials on the audit trail', () => {
  it('are written at most so many per second, and the next one says how many were left out', () => {
    const entries: Omit<AuditEntry, 'at'>[] = [];
    const clock = { ms: 0 };
    const record = async (entry: Omit<AuditEntry, 'at'>): Promise<void> => void entries.push(entry);
    const denials = createDenials(
      { record },
      () => undefined,
      2,
      () => clock.ms,
    );

    for (let i = 0; i < 5; i++) denials.record(request, undefined, 'unauthenticated');
    clock.ms = 1000;
    denials.record(request, undefined, 'unauthenticated');

    expect(entries).toHaveLength(3);
    expect(entries[2]).toMatchObject({
      actor: 'anonymous',
      action: 'access.denied',
      target: 'GET /v1/runs/:runId',
      details: { code: 'unauthenticated', address: '203.0.113.7', suppressed: 3 },
    });
  });

  it('do not fail the request when the trail cannot be written', async () => {
    const logged: string[] = [];
    const record = (): Promise<void> => Promise.reject(new Error('disk full'));
    const denials = createDenials({ record }, (_level, _fields, message) => logged.push(message), 10);

    denials.record(request, undefined, 'forbidden');
    await new Promise((resolve) => setImmediate(resolve));

    expect(logged).toEqual(['a denial could not be written to the audit trail']);
  });
});

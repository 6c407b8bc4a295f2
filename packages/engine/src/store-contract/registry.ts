import { describe, expect, it } from 'vitest';
import type { WorkflowRow } from '../ports/store.ts';
import {
  appendUnit,
  auditEntry,
  commitOne,
  given,
  givenHeldRun,
  keyRow,
  newBatchId,
  START,
  workflowUnit,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** Workflows, keys, settings and the audit trail. */
export function registryContract(subject: Subject): void {
  describe('a workflow', () => {
    const rowOf = (unit: ReturnType<typeof workflowUnit>, current: boolean): WorkflowRow => ({
      tenant: unit.tenant,
      id: unit.id,
      version: unit.version,
      digest: unit.digest,
      registeredAt: unit.registeredAt,
      current,
    });

    it('is current when registered last, and each version stays readable', async () => {
      const [one, two] = [workflowUnit('2.0.0'), workflowUnit('1.0.0', { registeredAt: START + 5 })];
      await given(subject.store, one);
      await given(subject.store, two);

      expect(await subject.store.readWorkflow('acme', 'greet', undefined)).toEqual(rowOf(two, true));
      expect(await subject.store.readWorkflow('acme', 'greet', '2.0.0')).toEqual(rowOf(one, false));
      expect(await subject.store.readWorkflow('acme', 'greet', '3.0.0')).toBeUndefined();
      expect(await subject.store.readDefinition(one.digest)).toBe(one.definition);
      expect(await subject.store.readDefinition('0'.repeat(64))).toBeUndefined();
    });

    it('may be registered again with the same content, which changes nothing', async () => {
      const [one, two] = [workflowUnit('1.0.0'), workflowUnit('2.0.0')];
      await given(subject.store, one, two);

      await given(subject.store, { ...one, batchId: newBatchId(), registeredAt: START + 9 });

      expect(await subject.store.readWorkflow('acme', 'greet', undefined)).toEqual(rowOf(two, true));
      expect(await subject.store.readWorkflow('acme', 'greet', '1.0.0')).toEqual(rowOf(one, false));
    });

    it('refuses other content under the same version, naming what is there', async () => {
      const one = workflowUnit('1.0.0');
      await given(subject.store, one);

      const result = await commitOne(
        subject.store,
        workflowUnit('1.0.0', { digest: 'f'.repeat(64), definition: '{}' }),
      );

      expect(result).toEqual({ state: 'refused', reason: 'workflow_conflict', digest: one.digest });
      expect(await subject.store.readDefinition('f'.repeat(64))).toBeUndefined();
    });

    it('belongs to its tenant', async () => {
      await given(subject.store, workflowUnit('1.0.0'));

      expect(await subject.store.readWorkflow('other', 'greet', undefined)).toBeUndefined();
      expect(await subject.store.readWorkflow('other', 'greet', '1.0.0')).toBeUndefined();
      expect((await subject.store.listWorkflows('other', { limit: 10 })).rows).toEqual([]);
      await given(
        subject.store,
        workflowUnit('1.0.0', { tenant: 'other', digest: 'f'.repeat(64), definition: '{"other":1}' }),
      );
      expect(await subject.store.readWorkflow('acme', 'greet', '1.0.0')).not.toMatchObject({
        digest: 'f'.repeat(64),
      });
    });

    it('is listed page by page, every version once', async () => {
      const units = ['a', 'b', 'c'].flatMap((id) => [
        workflowUnit('1.0.0', { id }),
        workflowUnit('1.1.0', { id }),
      ]);
      await given(subject.store, ...units);
      const seen: WorkflowRow[] = [];

      let cursor: string | undefined;
      do {
        const page = await subject.store.listWorkflows('acme', {
          limit: 4,
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...page.rows);
        cursor = page.nextCursor;
      } while (cursor !== undefined);

      expect(seen.map(({ id, version, current }) => `${id} ${version} ${current}`).sort()).toEqual(
        units.map(({ id, version }) => `${id} ${version} ${version === '1.1.0'}`).sort(),
      );
    });
  });

  describe('a key', () => {
    const keyUnit = (key: ReturnType<typeof keyRow>) =>
      ({ kind: 'key', batchId: newBatchId(), key }) as const;
    const revoke = (keyId: string, tenant = 'acme', at = START + 1) =>
      ({ kind: 'revoke-key', batchId: newBatchId(), tenant, keyId, at }) as const;

    it('is found by its hash and listed for its tenant only', async () => {
      const plain = keyRow('k1');
      const full = keyRow('k2', {
        kind: 'service',
        test: true,
        scopes: [],
        expiresAt: START + 9,
        label: 'ci',
      });
      const foreign = keyRow('k3', { tenant: 'other' });
      await given(subject.store, keyUnit(plain), keyUnit(full), keyUnit(foreign));

      expect(await subject.store.readKeyByHash(full.hash)).toEqual(full);
      expect(await subject.store.readKeyByHash('0'.repeat(64))).toBeUndefined();
      expect(await subject.store.listKeys('acme')).toEqual([plain, full]);
      expect(await subject.store.listKeys('other')).toEqual([foreign]);
    });

    it('stays as it is when written again', async () => {
      const key = keyRow('k1');
      await given(subject.store, keyUnit(key));

      await given(subject.store, keyUnit({ ...key, label: 'renamed' }), keyUnit({ ...key, keyId: 'k9' }));

      expect(await subject.store.listKeys('acme')).toEqual([key]);
    });

    it('keeps the time of its first revocation', async () => {
      await given(subject.store, keyUnit(keyRow('k1')));

      await given(subject.store, revoke('k1'), revoke('k1', 'acme', START + 2));

      expect(await subject.store.readKeyByHash(keyRow('k1').hash)).toMatchObject({ revokedAt: START + 1 });
    });

    it('cannot be revoked by another tenant, nor when unknown', async () => {
      await given(subject.store, keyUnit(keyRow('k1')));

      expect(await commitOne(subject.store, revoke('k1', 'other'))).toEqual({
        state: 'refused',
        reason: 'key_missing',
      });
      expect(await commitOne(subject.store, revoke('k2'))).toEqual({
        state: 'refused',
        reason: 'key_missing',
      });
      expect(await subject.store.readKeyByHash(keyRow('k1').hash)).not.toHaveProperty('revokedAt');
    });
  });

  describe('a setting', () => {
    it('is written once', async () => {
      const setting = (value: string) =>
        ({ kind: 'setting', batchId: newBatchId(), name: 'mode', value }) as const;
      expect(await subject.store.readSetting('mode')).toBeUndefined();
      await given(subject.store, setting('live'));

      expect(await commitOne(subject.store, setting('live'))).toEqual({ state: 'committed' });
      expect(await commitOne(subject.store, setting('test'))).toEqual({
        state: 'refused',
        reason: 'setting_conflict',
        value: 'live',
      });
      expect(await subject.store.readSetting('mode')).toBe('live');
    });
  });

  describe('the audit trail', () => {
    it('keeps entries in the order of their commits, with growing ids', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        {
          kind: 'audit',
          batchId: newBatchId(),
          audit: [auditEntry('denied', { details: { scope: 'keys:manage' } })],
        },
        appendUnit(runId, 0, { audit: [auditEntry('first'), auditEntry('second')] }),
      );

      const entries = await subject.store.readAudit(0, 10);

      expect(entries.map(({ action }) => action)).toEqual(['denied', 'first', 'second']);
      expect(entries[0]).toMatchObject(auditEntry('denied', { details: { scope: 'keys:manage' } }));
      expect(entries[1]).not.toHaveProperty('details');
      const ids = entries.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      expect(await subject.store.readAudit(ids[1] ?? 0, 1)).toEqual([entries[1]]);
      expect(await subject.store.readAudit((ids[2] ?? 0) + 1, 10)).toEqual([]);
    });
  });
}

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';

const VERIFY = '/v1/audit/verify';
const MEMBERS = ['fromSeq', 'toSeq', 'chainValid', 'checkpointsValid', 'checkpoints', 'anomalies'];
const CHECKPOINT_MEMBERS = ['checkpoint', 'atSequence', 'merkleRoot', 'signature'];
/** The bytes before a raw key in its DER form. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

function integrityOf({ discovery, expect }: CheckContext): JsonObject {
  return expect.object(
    advertised(discovery, 'auth.auditLogIntegrity'),
    'auth.auditLogIntegrity is an object',
  );
}

async function verified({ host, expect }: CheckContext, query: string): Promise<JsonObject> {
  const answer = await host.request('GET', `${VERIFY}?${query}`);
  expect.status(answer, 200);
  return expect.object(answer.json, 'a verification is answered with an object');
}

function othersThan(object: JsonObject, names: readonly string[]): string[] {
  return Object.keys(object).filter((name) => !names.includes(name));
}

export const AUDIT_CHECKS: readonly Check[] = [
  {
    id: 'audit/discovery',
    title: 'discovery says how the audit log is sealed',
    proves: ['AUDIT-1'],
    async run(context) {
      const { host, expect } = context;
      expect.status(await host.request('GET', '/.well-known/openwop', { key: null }), 200);

      const integrity = integrityOf(context);

      expect.equal(integrity['hashChain'], true, 'auth.auditLogIntegrity.hashChain is true');
      expect.equal(
        integrity['checkpointSignatureAlgorithm'],
        'ed25519',
        'auth.auditLogIntegrity.checkpointSignatureAlgorithm is ed25519',
      );
      expect.string(
        integrity['checkpointPublicKey'],
        'auth.auditLogIntegrity.checkpointPublicKey is a text that is not empty',
      );
    },
  },
  {
    id: 'audit/whole',
    title: 'the audit log is whole',
    proves: ['AUDIT-2', 'AUDIT-3'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-approval');
      await runs.reaches(runId, 'waiting-approval');
      await runs.cancel(runId);

      const result = await verified(context, 'fromSeq=0&toSeq=100');

      expect.equal(result['chainValid'], true, 'chainValid is true');
      const anomalies = expect.array(result['anomalies'], 'anomalies is a list');
      expect.equal(anomalies, [], 'there are no anomalies');
      expect.array(result['checkpoints'], 'checkpoints is a list');
      for (const name of ['fromSeq', 'toSeq']) expect.integer(result[name], `${name} is an integer`);
      expect.equal(othersThan(result, MEMBERS), [], 'a verification has no other members');
    },
  },
  {
    id: 'audit/checkpoints',
    title: 'checkpoints ascend, and are signed with the advertised key',
    proves: ['AUDIT-4', 'AUDIT-5'],
    async run(context) {
      const { expect } = context;
      const { checkpointPublicKey, checkpointIntervalEntries } = integrityOf(context);
      const key = keyOf(String(checkpointPublicKey));
      expect.that(
        key !== undefined,
        'checkpointPublicKey is an Ed25519 key: SPKI in base64, PEM, or 32 bytes',
      );

      const { checkpoints } = await verified(context, 'fromSeq=0&toSeq=1000000');

      let before = -1;
      for (const value of expect.array(checkpoints, 'checkpoints is a list')) {
        const checkpoint = expect.object(value, 'a checkpoint is an object');
        const at = expectCheckpoint(context, checkpoint);
        expect.that(at > before, 'checkpoints ascend', at, `more than ${before}`);
        if (typeof checkpointIntervalEntries === 'number')
          expect.that(
            at - before <= checkpointIntervalEntries + 1,
            'checkpoints are no further apart than advertised',
            at - before,
            checkpointIntervalEntries,
          );
        before = at;
        expect.that(
          key !== undefined && isSigned(checkpoint, key),
          'the signature of a checkpoint is valid under the advertised key',
        );
      }
    },
  },
  {
    id: 'audit/ranges',
    title: 'ranges are checked, and cut to what exists',
    proves: ['AUDIT-6', 'AUDIT-7'],
    async run(context) {
      const { host, expect } = context;

      for (const query of [
        'fromSeq=5&toSeq=1',
        'fromSeq=-1&toSeq=3',
        'fromSeq=x&toSeq=3',
        'fromSeq=0.5&toSeq=3',
      ])
        expect.envelope(await host.request('GET', `${VERIFY}?${query}`), { status: 400 });

      const beyond = await verified(context, 'fromSeq=0&toSeq=999999999');
      expect.equal(beyond['chainValid'], true, 'a range beyond the end of the log is valid');
    },
  },
  {
    id: 'audit/no-credential',
    title: 'the audit log needs a credential',
    proves: ['AUDIT-8'],
    async run({ host, expect }) {
      const answer = await host.request('GET', `${VERIFY}?fromSeq=0&toSeq=100`, { key: null });

      expect.envelope(answer, { status: 401 });
    },
  },
  {
    id: 'audit/low-scope',
    title: 'the audit log needs the scope audit:read',
    proves: ['AUDIT-9'],
    needs: { key: 'lowScope' },
    async run({ host, expect, keys }) {
      const key = keys.lowScope ?? null;

      const answer = await host.request('GET', `${VERIFY}?fromSeq=0&toSeq=100`, { key });

      expect.envelope(answer, { status: 403 });
    },
  },
];

function expectCheckpoint({ expect }: CheckContext, checkpoint: JsonObject): number {
  expect.equal(othersThan(checkpoint, CHECKPOINT_MEMBERS), [], 'a checkpoint has no other members');
  expect.string(checkpoint['checkpoint'], 'a checkpoint has a name');
  const root = expect.string(checkpoint['merkleRoot'], 'a checkpoint has a merkleRoot');
  expect.that(/^[0-9a-f]+$/i.test(root), 'the merkleRoot of a checkpoint is hexadecimal', root);
  const signature = expect.string(checkpoint['signature'], 'a checkpoint has a signature');
  expect.that(/^[\w+/-]+={0,2}$/.test(signature), 'the signature of a checkpoint is base64', signature);
  return expect.integer(checkpoint['atSequence'], 'a checkpoint has atSequence');
}

function keyOf(text: string): KeyObject | undefined {
  try {
    if (text.includes('-----BEGIN')) return createPublicKey(text);
    const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
    const key = bytes.length === 32 ? Buffer.concat([ED25519_HEAD, bytes]) : bytes;
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function isSigned({ signature, ...signed }: JsonObject, key: KeyObject): boolean {
  const root = String(signed['merkleRoot']);
  const bytes = [Buffer.from(root, 'hex'), Buffer.from(root), Buffer.from(canonicalJson(signed as Json))];
  return bytes.some((data) => {
    try {
      return verify(null, data, key, Buffer.from(String(signature), 'base64'));
    } catch {
      return false;
    }
  });
}

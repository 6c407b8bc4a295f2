import { GRPC_STATUS, isJsonObject } from '@weft/protocol';
import type { GrpcMutation, ProxiedEnd } from '../../mutants/grpc-proxy.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY } from '../../mutants/targets.ts';

const { FAILED_PRECONDITION, INTERNAL, OK } = GRPC_STATUS;

type Row = Omit<Mutant, 'on' | 'grpc'> & { readonly grpc: GrpcMutation };

const endsAs =
  (code: number) =>
  (end: ProxiedEnd): ProxiedEnd => ({ ...end, code: end.code === OK ? OK : code });

const ROWS: readonly Row[] = [
  {
    id: 'grpc/another-version',
    breaks: 'the service says another protocol version than the discovery document',
    caughtBy: ['grpc/capabilities'],
    says: /protocolVersion is that of the discovery document/,
    grpc: { method: 'GetCapabilities', message: (message) => [{ ...message, protocolVersion: '0.9' }] },
  },
  {
    id: 'grpc/another-status',
    breaks: 'a run has another status over gRPC',
    caughtBy: ['grpc/runs'],
    says: /a run over gRPC is the run that REST shows/,
    grpc: { method: 'GetRun', message: (message) => [{ ...message, status: 'running' }] },
  },
  {
    id: 'grpc/cancel-of-no-effect',
    breaks: 'CancelRun reads the run instead of cancelling it',
    caughtBy: ['grpc/cancel'],
    says: /ended|cancelled/,
    grpc: {
      method: 'CancelRun',
      request: () => ({ runId: 'another' }),
      end: () => ({ code: OK, envelope: undefined }),
    },
  },
  {
    id: 'grpc/keys-not-asked-for',
    breaks: 'an unknown key is an error of the host',
    caughtBy: ['grpc/keys'],
    says: /ends as UNAUTHENTICATED/,
    grpc: { method: 'GetRun', end: endsAs(INTERNAL) },
  },
  {
    id: 'grpc/no-envelope',
    breaks: 'a status has no details',
    caughtBy: ['grpc/unknown-runs', 'grpc/keys'],
    says: /has an error envelope among its details/,
    grpc: { method: 'GetRun', end: ({ code }) => ({ code, envelope: undefined }) },
  },
  {
    id: 'grpc/nested-envelope',
    breaks: 'the envelope has its code in an object',
    caughtBy: ['grpc/unknown-runs'],
    says: /the envelope has a code/,
    grpc: {
      method: 'GetRun',
      end: ({ code, envelope }) => ({
        code,
        envelope: envelope === undefined ? undefined : { error: { code: 'x' }, message: 'y' },
      }),
    },
  },
  {
    id: 'grpc/scope-not-denied',
    breaks: 'a call without the scope fails as one in a wrong state',
    caughtBy: ['grpc/scopes'],
    says: /ends as PERMISSION_DENIED/,
    grpc: { method: 'CancelRun', end: endsAs(FAILED_PRECONDITION) },
  },
  {
    id: 'grpc/tenants-told-apart',
    breaks: 'the envelope says that there is such a run, of another tenant',
    caughtBy: ['grpc/other-tenants'],
    says: /nothing tells it from an unknown run/,
    grpc: {
      method: 'GetRun',
      end: ({ code, envelope }) => ({
        code,
        envelope: isJsonObject(envelope) ? { ...envelope, details: { at: performance.now() } } : envelope,
      }),
    },
  },
  {
    id: 'grpc/invalid-is-internal',
    breaks: 'an invalid request is an error of the host',
    caughtBy: ['grpc/invalid'],
    says: /ends as INVALID_ARGUMENT/,
    grpc: { method: 'CreateRun', end: endsAs(INTERNAL) },
  },
  {
    id: 'grpc/event-twice',
    breaks: 'a stream has its second event twice',
    caughtBy: ['grpc/stream'],
    says: /every event once, in order/,
    grpc: {
      method: 'StreamRunEvents',
      message: (message, index) => (index === 1 ? [message, message] : [message]),
    },
  },
  {
    id: 'grpc/event-lost',
    breaks: 'a stream leaves out its second event',
    caughtBy: ['grpc/stream'],
    says: /every event once, in order/,
    grpc: { method: 'StreamRunEvents', message: (message, index) => (index === 1 ? [] : [message]) },
  },
  {
    id: 'grpc/stream-ends-badly',
    breaks: 'a stream ends with an error although the run has ended',
    caughtBy: ['grpc/stream'],
    says: /closes with OK/,
    grpc: { method: 'StreamRunEvents', end: () => ({ code: INTERNAL, envelope: undefined }) },
  },
  {
    id: 'grpc/sequence-ignored',
    breaks: 'a stream begins again whatever last_sequence says',
    caughtBy: ['grpc/resumed'],
    says: /begins with the event after it/,
    grpc: { method: 'StreamRunEvents', request: ({ lastSequence: _seen, ...request }) => request },
  },
  {
    id: 'grpc/unset-means-zero',
    breaks: 'a stream without last_sequence begins after the first event',
    caughtBy: ['grpc/resumed', 'grpc/stream'],
    says: /begins with the first event/,
    grpc: { method: 'StreamRunEvents', request: (request) => ({ lastSequence: 0, ...request }) },
  },
  {
    id: 'grpc/readers-cancel',
    breaks: 'a reader that leaves cancels the run',
    caughtBy: ['grpc/reader-leaves'],
    says: /continues without its reader/,
    grpc: { method: 'StreamRunEvents', cancelsRuns: true },
  },
  {
    id: 'grpc/idempotency-ignored',
    breaks: 'idempotency keys in the metadata are not looked at',
    caughtBy: ['grpc/repeated'],
    says: /gets the first answer/,
    grpc: { method: 'CreateRun', metadata: (sent) => sent.remove('idempotency-key') },
  },
];

/** Their proxy is found through discovery. */
export const GRPC_MUTANTS: readonly Mutant[] = ROWS.map((row) => ({ ...row, on: DISCOVERY }));

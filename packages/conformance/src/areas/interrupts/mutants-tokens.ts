import { isJsonObject, type JsonObject } from '@weft/protocol';
import { answered, omit, payloads, refusal, repeatedEvents, succeeds } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { sent } from '../../mutants/requests.ts';
import { POLL, SNAPSHOT, SNAPSHOT_AND_POLL } from '../../mutants/targets.ts';

const LINK = /^\/v1\/interrupts\//;
/** Made-up texts have no dot; altered tokens do. */
const SIGNED_LINK = /^\/v1\/interrupts\/.+\./;

/** Changes what a signed token claims. Its signature is then wrong, but a check that only looks at it does not see that. */
function claims(change: (claimed: JsonObject) => JsonObject) {
  return answered((snapshot) => {
    const { interrupt } = snapshot;
    if (!isJsonObject(interrupt) || typeof interrupt['interruptToken'] !== 'string') return snapshot;
    const [head = '', mac = ''] = interrupt['interruptToken'].split('.');
    const claimed = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as JsonObject;
    const changed = Buffer.from(JSON.stringify(change(claimed))).toString('base64url');
    return { ...snapshot, interrupt: { ...interrupt, interruptToken: `${changed}.${mac}` } };
  });
}

export const INTERRUPTS_TOKEN_MUTANTS: readonly Mutant[] = [
  {
    id: 'interrupts/no-token-shown',
    breaks: 'the snapshot of a run that waits for an event has no link',
    caughtBy: ['interrupts/external-event'],
    says: /the snapshot has interrupt\.interruptToken or interrupt\.callbackUrl/,
    on: SNAPSHOT,
    answer: answered((snapshot) => ({ ...snapshot, interrupt: {} })),
  },
  {
    id: 'interrupts/token-needs-a-key',
    breaks: 'a token is not enough to resolve',
    caughtBy: ['interrupts/external-event', 'interrupts/token-shows'],
    says: /status 422 or 400/,
    on: { path: LINK },
    request: (request) =>
      request.headers['authorization'] === undefined ? { instead: refusal(401, 'unauthenticated') } : request,
  },
  {
    id: 'interrupts/correlation-ignored',
    breaks: 'any event resolves the interrupt',
    caughtBy: ['interrupts/external-event'],
    says: /status 422 or 400/,
    on: { method: 'POST', path: LINK },
    request: sent(() => ({ resumeValue: { orderId: 'fixture-order-1', status: 'completed' } })),
  },
  {
    id: 'interrupts/event-must-be-exact',
    breaks: 'an event with more members than the correlation is refused',
    caughtBy: ['interrupts/external-event'],
    says: /status 200 or 202 or 204/,
    on: { method: 'POST', path: LINK },
    request: sent(({ resumeValue }) =>
      isJsonObject(resumeValue) && 'more' in resumeValue
        ? { resumeValue: {} }
        : { resumeValue: resumeValue ?? null },
    ),
  },
  {
    id: 'interrupts/event-counted-twice',
    breaks: 'the same event resolves the interrupt twice',
    caughtBy: ['interrupts/external-event-twice'],
    says: /exactly one interrupt\.resolved/,
    on: POLL,
    answer: repeatedEvents((event) => event['type'] === 'interrupt.resolved'),
  },
  {
    id: 'interrupts/token-shows-the-run',
    breaks: 'a token shows the variables of the run',
    caughtBy: ['interrupts/token-shows'],
    says: /a token shows nothing but its interrupt/,
    on: { method: 'GET', path: LINK },
    answer: answered((body) => ({ ...body, variables: {} })),
  },
  {
    id: 'interrupts/used-token-still-shows',
    breaks: 'a token shows its interrupt after it is resolved',
    caughtBy: ['interrupts/token-after-resolution'],
    says: /status 409 or 404 or 410.*GET/,
    on: { method: 'GET', path: LINK },
    answer: succeeds({ kind: 'external-event', key: 'k', data: {} }),
  },
  {
    id: 'interrupts/used-token-still-resolves',
    breaks: 'a token resolves its interrupt again',
    caughtBy: ['interrupts/token-after-resolution'],
    says: /status 409 or 404 or 410.*POST/,
    on: { method: 'POST', path: LINK },
    answer: succeeds(),
  },
  {
    id: 'interrupts/token-outlives-the-run',
    breaks: 'a token shows the interrupt of a cancelled run',
    caughtBy: ['interrupts/token-after-cancel'],
    says: /status 404 or 409 or 410 or 422/,
    on: { method: 'GET', path: LINK },
    answer: succeeds({ kind: 'external-event', key: 'k', data: {} }),
  },
  {
    id: 'interrupts/signature-not-checked',
    breaks: 'an altered token shows the interrupt',
    caughtBy: ['interrupts/forged-token'],
    says: /status 400 or 401 or 403 or 404 or 410/,
    on: { method: 'GET', path: SIGNED_LINK },
    answer: succeeds({ kind: 'external-event', key: 'k', data: {} }),
  },
  {
    id: 'interrupts/forged-token-resolves',
    breaks: 'an altered token resolves the interrupt',
    caughtBy: ['interrupts/forged-token'],
    says: /status 400 or 401 or 403 or 404 or 410.*POST/,
    on: { method: 'POST', path: SIGNED_LINK },
    answer: succeeds(),
  },
  {
    id: 'interrupts/token-without-expiry',
    breaks: 'a token never expires',
    caughtBy: ['interrupts/token-expiry'],
    says: /a token has expiresAt/,
    on: SNAPSHOT,
    answer: claims((claimed) => omit(claimed, 'expiresAt')),
  },
  {
    id: 'interrupts/token-outlives-its-interrupt',
    breaks: 'a token expires an hour after its interrupt',
    caughtBy: ['interrupts/token-expiry'],
    says: /a token expires no later than its interrupt/,
    on: SNAPSHOT,
    answer: claims((claimed) => ({ ...claimed, expiresAt: Number(claimed['expiresAt']) + 3_600_000 })),
  },
  {
    id: 'interrupts/token-of-another-run',
    breaks: 'a token names another run',
    caughtBy: ['interrupts/token-expiry'],
    says: /a token names its run/,
    on: SNAPSHOT,
    answer: claims((claimed) => ({ ...claimed, runId: 'another' })),
  },
  {
    id: 'interrupts/token-in-the-log',
    breaks: 'node.suspended has the token',
    caughtBy: ['interrupts/token-not-in-log'],
    says: /the event log does not have the token/,
    on: SNAPSHOT_AND_POLL,
    answer(answer, request, memory) {
      const [, token] = /"interruptToken":"([^"]+)"/.exec(answer.body) ?? [];
      if (token !== undefined) memory.set('token', token);
      const leak = payloads('node.suspended', (payload) => ({
        ...payload,
        interruptToken: memory.get('token') ?? null,
      }));
      return leak(answer, request, memory);
    },
  },
  {
    id: 'interrupts/body-before-token',
    breaks: 'the body is read before the token is checked',
    caughtBy: ['interrupts/token-before-body'],
    says: /status 401 or 403 or 404 or 410/,
    on: { method: 'POST', path: LINK },
    request: (request) =>
      request.body.startsWith('{ this') ? { instead: refusal(400, 'validation_error') } : request,
  },
];

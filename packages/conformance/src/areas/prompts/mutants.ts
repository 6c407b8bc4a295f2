import { isJsonObject } from '@weft/protocol';
import { answered, block, replaces } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { DISCOVERY } from '../../mutants/targets.ts';

const LIST = { method: 'GET', path: /^\/v1\/prompts\?/ };
const CREATE = { method: 'POST', path: /^\/v1\/prompts$/ };
const ONE = { method: 'GET', path: /^\/v1\/prompts\/[^?]+/ };
const UPDATE = { method: 'PUT', path: /^\/v1\/prompts\// };
const RENDER = { method: 'POST', path: /^\/v1\/prompts:render$/ };

const without =
  (name: string): NonNullable<Mutant['answer']> =>
  (answer) => {
    const { [name]: _left, ...headers } = answer.headers;
    return { ...answer, headers };
  };
const instead =
  (from: number, to: number): NonNullable<Mutant['answer']> =>
  (answer) =>
    answer.status === from ? { ...answer, status: to } : answer;

export const PROMPTS_MUTANTS: readonly Mutant[] = [
  {
    id: 'prompts/made-up-kind',
    breaks: 'a kind is advertised that the protocol does not have',
    caughtBy: ['prompts/capability'],
    says: /kinds of the protocol alone/,
    on: DISCOVERY,
    answer: block('prompts', (prompts) => ({ ...prompts, templateKinds: ['user', 'poem'] })),
  },
  {
    id: 'prompts/too-large',
    breaks: 'templates may be larger than the protocol allows',
    caughtBy: ['prompts/capability'],
    says: /maxTemplateBytes/,
    on: DISCOVERY,
    answer: block('prompts', (prompts) => ({ ...prompts, maxTemplateBytes: 1_000_000 })),
  },
  {
    id: 'prompts/nowhere',
    breaks: 'the answer does not say where the template is',
    caughtBy: ['prompts/creation'],
    says: /Location/,
    on: CREATE,
    answer: without('location'),
  },
  {
    id: 'prompts/text-trimmed',
    breaks: 'a template is read with another text than was sent',
    caughtBy: ['prompts/creation'],
    says: /text is read as it was sent/,
    on: ONE,
    answer: replaces('text', 'Greet'),
  },
  {
    id: 'prompts/created-twice',
    breaks: 'the same version is created twice',
    caughtBy: ['prompts/creation'],
    says: /409/,
    on: CREATE,
    answer: instead(409, 201),
  },
  {
    id: 'prompts/removed-and-there',
    breaks: 'a removal is answered as if nothing had been there to remove',
    caughtBy: ['prompts/creation'],
    says: /204/,
    on: { method: 'DELETE', path: /^\/v1\/prompts\// },
    answer: instead(204, 200),
  },
  {
    id: 'prompts/unknown-members-taken',
    breaks: 'a template with an unknown member is taken',
    caughtBy: ['prompts/refused'],
    says: /400/,
    on: CREATE,
    answer: (answer, { body }) => (body.includes('unknownMember') ? { ...answer, status: 201 } : answer),
  },
  {
    id: 'prompts/version-lowered',
    breaks: 'an update may lower the version',
    caughtBy: ['prompts/versions'],
    says: /409/,
    on: UPDATE,
    answer: instead(409, 200),
  },
  {
    id: 'prompts/always-the-newest',
    breaks: 'a version that is asked for is not looked at',
    caughtBy: ['prompts/versions'],
    says: /earlier version stays/,
    on: ONE,
    request: (request) => ({ ...request, path: request.path.replace(/\?version=1\.0\.0$/, '') }),
  },
  {
    id: 'prompts/no-etag',
    breaks: 'templates have no ETag',
    caughtBy: ['prompts/etag'],
    says: /ETag/,
    on: ONE,
    answer: without('etag'),
  },
  {
    id: 'prompts/never-changed',
    breaks: 'a template that has changed is answered with 304',
    caughtBy: ['prompts/etag'],
    says: /200/,
    on: ONE,
    answer: (answer, { headers }) =>
      headers['if-none-match'] === undefined ? answer : { ...answer, status: 304, body: '' },
  },
  {
    id: 'prompts/any-tag',
    breaks: 'of several tags one is enough',
    caughtBy: ['prompts/list'],
    says: /two tags list what has both/,
    on: LIST,
    request: (request) => ({ ...request, path: request.path.replace('&tag=second', '') }),
  },
  {
    id: 'prompts/first-page-only',
    breaks: 'the list ends with its first page',
    caughtBy: ['prompts/list'],
    says: /each once/,
    on: LIST,
    answer: answered(({ nextCursor: _next, ...body }) => body),
  },
  {
    id: 'prompts/hash-of-the-template',
    breaks: 'the hash does not depend on the values',
    caughtBy: ['prompts/render'],
    says: /other values have another hash/,
    on: RENDER,
    answer: replaces('hash', `sha256:${'0'.repeat(64)}`),
  },
  {
    id: 'prompts/tells-the-text',
    breaks: 'a rendering shows the text',
    caughtBy: ['prompts/render'],
    says: /shown only where prompts are shown in full/,
    on: RENDER,
    answer: answered((body) =>
      isJsonObject(body['variableHashes']) ? { ...body, composed: 'Greet.' } : body,
    ),
  },
  {
    id: 'prompts/one-code-for-all',
    breaks: 'a missing variable is answered with validation_error',
    caughtBy: ['prompts/render-refused'],
    says: /prompt_variable_unresolved/,
    on: RENDER,
    answer: answered((body) =>
      body['error'] === 'prompt_variable_unresolved' ? { ...body, error: 'validation_error' } : body,
    ),
  },
  {
    id: 'prompts/open-to-all',
    breaks: 'prompts are listed without a credential',
    caughtBy: ['prompts/credential'],
    says: /401/,
    on: { method: 'GET', path: /^\/v1\/prompts$/ },
    answer: instead(401, 200),
  },
  {
    id: 'prompts/anyone-writes',
    breaks: 'a template is created without the scope',
    caughtBy: ['prompts/scope'],
    says: /403/,
    on: CREATE,
    answer: instead(403, 201),
  },
];

/**
 * The pack registry. It is not part of the operations of a host: the protocol has it as a service of its own, which
 * this host mounts where it is configured as one. Names and versions in the path are checked before who asks, and that before the body.
 */
import { Readable } from 'node:stream';
import { createGate, type PackRegistry } from '@weft/engine';
import {
  ENDPOINTS,
  HostError,
  type Json,
  type JsonObject,
  PACKS_PATH,
  REGISTRY_PATH,
  toIso,
} from '@weft/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type AppContext, callerOf, sendJson } from '../app-context.ts';
import { isUnchanged } from '../http/etag.ts';
import type { Guard } from '../http/guard.ts';
import { bodyParser } from '../http/parse-body.ts';
import { RAW_BODY } from '../http/read-json.ts';
import { registryDocument } from './registry-document.ts';

/** Bytes of an archive: what the format allows. */
const MAX_ARCHIVE_BYTES = 10 * 1024 * 1024;
/** An archive may inflate to five times its size while it is read. */
const AT_A_TIME = { inAll: 2, perTenant: 1 };
const ARCHIVE_TYPES = /^application\/(gzip|x-gzip|tar\+gzip|octet-stream)\s*(;|$)/i;
const ARCHIVE_SIGNATURE = 'x-pack-archive-signature';
const SIGNATURE_BYTES = 64;

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const closed = { additionalProperties: false } as const;
const deprecationBody = bodyParser(
  Type.Object({ reason: text(1_024), supersededBy: Type.Optional(text(512)) }, closed),
);
const yankBody = bodyParser(
  Type.Object(
    { reason: text(1_024), advisoryUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 2_048 })) },
    closed,
  ),
);
const keyBody = bodyParser(Type.Object({ kid: text(64) }));

interface PackPath {
  readonly name: string;
  readonly version: string;
}

export function serveRegistry(
  app: FastifyInstance,
  packs: PackRegistry,
  guard: Guard,
  context: AppContext,
): void {
  const gate = createGate(AT_A_TIME);

  /** Anyone reads what is public; packs of private.* a key of their tenant. */
  async function mayRead(request: FastifyRequest, name: string): Promise<void> {
    if (packs.isPrivate(name)) await guard.admitWith([], {}, request);
    else guard.admitAnyone(request);
  }

  function mayWrite(scope: string) {
    return {
      config: { scope },
      onRequest: async (request: FastifyRequest) => {
        const { name, version } = pathOf(request);
        packs.check(name, version === '' ? undefined : version);
        await guard.admitWith([scope], {}, request);
      },
    };
  }

  app.get(REGISTRY_PATH, (request, reply) =>
    sendDocument(reply, registryDocument(context.publicUrl(request))),
  );

  for (const [path, member] of [
    [PACKS_PATH, 'packs'],
    [`${PACKS_PATH}/-/search`, 'results'],
  ] as const)
    app.get(path, async (request, reply) => {
      const query = searchOf(request.query);
      await mayRead(request, query.text);
      const { rows, nextCursor } = await packs.search(request.caller, query);
      return sendDocument(reply, {
        [member]: rows.map(({ agents, ...row }) => ({
          ...row,
          ...(agents !== undefined && { agents: [...agents] }),
        })),
        ...(nextCursor !== undefined && { nextCursor }),
      });
    });

  // Not the name of a pack: the protocol has it for hosts that export the manifests of their agents, with the prompts.
  app.get(`${PACKS_PATH}/export`, () => {
    const message = `This host exports no agents. GET ${ENDPOINTS.listAgents.path} lists those that it has.`;
    throw new HostError('not_found', message);
  });

  app.get(`${PACKS_PATH}/:name`, async (request, reply) => {
    const { name } = pathOf(request);
    packs.check(name);
    await mayRead(request, name);
    return sendDocument(reply, await indexOf(packs, request, name, context.publicUrl(request)));
  });

  app.get(`${PACKS_PATH}/:name/-/keychain`, async (request, reply) => {
    const { name } = pathOf(request);
    packs.check(name);
    await mayRead(request, name);
    const { namespace, keys } = await packs.keychain(request.caller, name);
    return sendDocument(reply, { namespace, keys: [...keys] });
  });

  app.get(`${PACKS_PATH}/:name/-/:file`, async (request, reply) => {
    const { name, version, kind } = fileOf(request);
    packs.check(name, version);
    await mayRead(request, name);
    const { caller } = request;
    if (kind === 'json') return sendDocument(reply, await packs.manifest(caller, name, version));
    if (kind === 'sig')
      return reply
        .header('content-type', 'application/octet-stream')
        .send(await packs.signature(caller, name, version));
    reply.raw.setTimeout(context.settings.stallMs, () => reply.raw.destroy());
    return sendArchive(request, reply, await packs.archive(caller, name, version));
  });

  const publish = mayWrite('packs:publish');
  app.put(
    `${PACKS_PATH}/:name/-/:file`,
    {
      ...publish,
      bodyLimit: MAX_ARCHIVE_BYTES,
      onRequest: async (request) => {
        await publish.onRequest(request);
        const { 'content-type': type = '' } = request.headers;
        // Not packed: an archive is gzip itself, and its bytes are what is signed.
        const isArchive = ARCHIVE_TYPES.test(type) && request.headers['content-encoding'] === undefined;
        if (!isArchive) throw noArchive();
        request.headers['content-type'] = RAW_BODY;
      },
    },
    async (request, reply) => {
      const { name, version, kind } = fileOf(request);
      const { body } = request;
      if (kind !== 'tgz' || !Buffer.isBuffer(body) || body.length === 0) throw noArchive();
      const caller = callerOf(request);
      const pack = { name, version, archive: body, ...publicationHeaders(request) };
      const { isNew, published } = await gate.pass(caller.tenant, () => packs.publish(caller, pack));
      return sendJson(reply, isNew ? 201 : 200, JSON.stringify(published));
    },
  );

  app.delete(`${PACKS_PATH}/:name/-/:version`, mayWrite('packs:publish'), async (request, reply) => {
    const { name, version } = pathOf(request);
    await packs.unpublish(callerOf(request), name, version);
    return reply.code(204).send();
  });

  const deprecate = `${PACKS_PATH}/:name/-/:version/deprecate`;
  app.post(deprecate, mayWrite('packs:publish'), async (request, reply) => {
    const { name, version } = pathOf(request);
    const note = deprecationBody(request.body);
    return sendDocument(reply, await packs.deprecate(callerOf(request), name, version, note));
  });
  app.delete(deprecate, mayWrite('packs:publish'), async (request, reply) => {
    const { name, version } = pathOf(request);
    return sendDocument(reply, await packs.deprecate(callerOf(request), name, version, undefined));
  });

  const yank = `${PACKS_PATH}/:name/-/:version/yank`;
  app.post(yank, mayWrite('packs:yank'), async (request, reply) => {
    const { name, version } = pathOf(request);
    return sendDocument(reply, await packs.yank(callerOf(request), name, version, yankBody(request.body)));
  });
  app.delete(yank, mayWrite('packs:yank-revert'), async (request, reply) => {
    const { name, version } = pathOf(request);
    return sendDocument(reply, await packs.yank(callerOf(request), name, version, undefined));
  });

  app.post(`${PACKS_PATH}/:name/-/keychain/rotate`, mayWrite('packs:publish'), async (request, reply) => {
    const { name } = pathOf(request);
    const key = keyBody(request.body) as JsonObject;
    const { namespace, keys } = await packs.rotateKey(callerOf(request), name, key);
    return sendDocument(reply, { namespace, keys: [...keys] });
  });
}

function pathOf({ params }: FastifyRequest): PackPath {
  const { name = '', version, file } = params as Readonly<Record<string, string | undefined>>;
  return { name, version: version ?? file?.replace(/\.(tgz|json|sig)$/, '') ?? '' };
}

function fileOf(request: FastifyRequest): PackPath & { readonly kind: string } {
  const { file = '' } = request.params as { readonly file?: string };
  const kind = /\.(tgz|json|sig)$/.exec(file)?.[1];
  if (kind !== undefined) return { ...pathOf(request), kind };
  throw new HostError('not_found', 'Ask for VERSION.json, VERSION.tgz, VERSION.sig or keychain.');
}

const LONGEST_QUERY = 256;

function searchOf(query: unknown): { readonly text: string; readonly cursor?: string } {
  const { q = '', cursor, ...others } = query as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(others)[0];
  const wrong =
    unknown ??
    (typeof q !== 'string' || q.length > LONGEST_QUERY ? 'q' : undefined) ??
    (cursor !== undefined && typeof cursor !== 'string' ? 'cursor' : undefined);
  if (wrong !== undefined)
    throw new HostError(
      'validation_error',
      `A search takes q, of at most ${LONGEST_QUERY} characters, and cursor, each once.`,
      { field: wrong },
    );
  return { text: q as string, ...(typeof cursor === 'string' && { cursor }) };
}

async function indexOf(
  packs: PackRegistry,
  request: FastifyRequest,
  name: string,
  url: string,
): Promise<JsonObject> {
  const { description, versions, latest } = await packs.index(request.caller, name);
  const base = `${url}${PACKS_PATH}/${name}/-`;
  return {
    name,
    description,
    versions: Object.fromEntries(
      Object.entries(versions).map(([version, record]): [string, JsonObject] => [
        version,
        {
          tarballUrl: `${base}/${encodeURIComponent(version)}.tgz`,
          tarballSha256: record.integrity,
          manifestUrl: `${base}/${encodeURIComponent(version)}.json`,
          publishedAt: toIso(record.publishedAt),
          signed: record.signingMethod !== 'none',
          signingMethod: record.signingMethod,
          ...(record.deprecation !== undefined && { deprecation: record.deprecation }),
          ...(record.yanked !== undefined && { yanked: record.yanked }),
        },
      ]),
    ),
    'dist-tags': latest === undefined ? {} : { latest },
  };
}

type SentArchive = Awaited<ReturnType<PackRegistry['archive']>>;

function sendArchive(
  request: FastifyRequest,
  reply: FastifyReply,
  { integrity, size, signature, bytes }: SentArchive,
): FastifyReply {
  const etag = `"${integrity}"`;
  reply.header('etag', etag).header('content-type', 'application/tar+gzip');
  if (signature !== undefined) reply.header(ARCHIVE_SIGNATURE, signature);
  if (isUnchanged(request, etag)) return reply.code(304).send();
  return reply.header('content-length', String(size)).send(Readable.from(bytes));
}

function publicationHeaders({ headers }: FastifyRequest) {
  const {
    'x-pack-sha256': integrity,
    'x-pack-signing-method': signingMethod,
    [ARCHIVE_SIGNATURE]: signed,
  } = headers;
  const signature = signed === undefined ? undefined : Buffer.from(String(signed), 'base64');
  if (signature !== undefined && signature.length !== SIGNATURE_BYTES)
    throw new HostError('signature_invalid', 'X-Pack-Archive-Signature is not 64 bytes in base64.');
  return {
    signature,
    integrity: integrity === undefined ? undefined : String(integrity),
    signingMethod: signingMethod === undefined ? undefined : String(signingMethod),
  };
}

function noArchive(): HostError {
  return new HostError(
    'invalid_body',
    'Send the bytes of an archive to NAME/-/VERSION.tgz, with "Content-Type: application/gzip".',
    { field: 'body' },
  );
}

function sendDocument(reply: FastifyReply, document: Json): FastifyReply {
  return sendJson(reply, 200, JSON.stringify(document));
}

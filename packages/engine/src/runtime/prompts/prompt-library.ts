import {
  canonicalJson,
  type CreatePromptRequest,
  HostError,
  isName,
  type PromptTemplateDocument,
  toIso,
} from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { Caller } from '../../host/host.ts';
import type { FoundPrompt, PromptFilter, Prompts } from '../../host/surface/prompts.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentPlace, Documents, DocumentWrite, Listed, Page } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { CONTENDED, isWritten, untilWritten } from '../commits/contended-write.ts';
import { compareVersions } from '../node-types/version-order.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { createTenantCounter } from '../triggers/tenant-counter.ts';
import { renderPrompt } from './render-prompt.ts';

/**
 * Prompt templates in the store: one document names the versions of a template and holds the newest; each version has one of its own.
 *
 * P-3. (tenant, template, version) names one text until the template is removed.
 * P-4. A version is known together with its being the newest, or not at all.
 */
export interface PromptLibrary extends Prompts {
  /** A version, or the newest; undefined when there is none. */
  find(tenant: string, templateId: string, version?: string): Promise<FoundPrompt | undefined>;
}

export interface PromptDependencies {
  readonly store: Pick<Documents, 'readDocument' | 'listDocuments'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

const PROMPTS = 'prompts';
const MAX_TEMPLATES = 500;
const MAX_VERSIONS = 100;

interface Head {
  readonly newest: PromptTemplateDocument;
  readonly versions: readonly string[];
}

export function createPromptLibrary(dependencies: PromptDependencies): PromptLibrary {
  const { store, committer, clock, random } = dependencies;
  const counter = createTenantCounter(store, {
    id: 'prompt templates',
    limit: MAX_TEMPLATES,
    limitName: 'of templates',
  });

  async function readHead(tenant: string, templateId: string) {
    const stored = await store.readDocument(headPlace(tenant, templateId));
    return stored && { ...(JSON.parse(stored.body) as Head), replaces: stored.version };
  }

  async function find(
    tenant: string,
    templateId: string,
    version?: string,
  ): Promise<FoundPrompt | undefined> {
    if (!isName(templateId) || (version !== undefined && !isName(version))) return undefined;
    if (version === undefined) {
      const head = await readHead(tenant, templateId);
      return head && found(head.newest);
    }
    const stored = await store.readDocument(versionPlace(tenant, templateId, version));
    return stored && found(JSON.parse(stored.body) as PromptTemplateDocument);
  }

  /** Undefined where an update finds nothing to update. */
  function write(
    caller: Caller,
    given: CreatePromptRequest,
    isUpdate: boolean,
  ): Promise<PromptTemplateDocument | undefined> {
    checkTemplate(given);
    const { tenant } = caller;
    const { templateId, version } = given;
    return untilWritten(async () => {
      const head = await readHead(tenant, templateId);
      if (isUpdate && head === undefined) return undefined;
      if (head !== undefined) checkVersion(version, head, isUpdate);
      const at = clock.now();
      const template = templateOf(given, head?.newest.meta?.createdAt, at);
      const isNewest = head === undefined || compareVersions(version, head.newest.version) > 0;
      const next: Head = {
        newest: isNewest ? template : head.newest,
        versions: [...(head?.versions ?? []), version],
      };
      const documents: DocumentWrite[] = [
        { ...versionPlace(tenant, templateId, version), body: JSON.stringify(template), at, onlyNew: true },
        ...(head === undefined ? [await counter.added(tenant, at)] : []),
      ];
      const result = await committer.submit({
        kind: 'document',
        batchId: randomId(random),
        ...headPlace(tenant, templateId),
        body: JSON.stringify(next),
        at,
        ...(head === undefined ? { onlyNew: true } : { replaces: head.replaces }),
        documents,
        audit: [auditOf(caller, { at, action: 'prompt.write', target: `${templateId}@${version}` })],
      });
      return isWritten(result) ? template : CONTENDED;
    });
  }

  const library: PromptLibrary = {
    find,
    async create(caller, given) {
      const made = await write(caller, given, false);
      if (made === undefined) throw new HostError('internal_error', 'The template was not written.');
      return made;
    },
    update: (caller, given) => write(caller, given, true),
    async list({ tenant }, filter, page) {
      const read = (next: Page) => store.listDocuments(tenant, PROMPTS, HEADS, next);
      const { rows, nextCursor } = await filled(read, filter, page);
      return { rows, ...(nextCursor !== undefined && { nextCursor }) };
    },
    get: ({ tenant }, templateId, version) => find(tenant, templateId, version),
    remove(caller, templateId) {
      const { tenant } = caller;
      return untilWritten(async () => {
        const head = isName(templateId) ? await readHead(tenant, templateId) : undefined;
        if (head === undefined) return false;
        const at = clock.now();
        const gone = head.versions.map((version) => ({ ...versionPlace(tenant, templateId, version), at }));
        const result = await committer.submit({
          kind: 'document',
          batchId: randomId(random),
          ...headPlace(tenant, templateId),
          at,
          replaces: head.replaces,
          documents: [...gone, await counter.removed(tenant, at)],
          audit: [auditOf(caller, { at, action: 'prompt.remove', target: templateId })],
        });
        return isWritten(result) ? true : CONTENDED;
      });
    },
    render: ({ tenant }, request) =>
      renderPrompt(request, (templateId, version) => find(tenant, templateId, version)),
  };
  return library;
}

const HEADS = 'templates';

function headPlace(tenant: string, templateId: string): DocumentPlace {
  return { tenant, collection: PROMPTS, scope: HEADS, id: templateId };
}

function versionPlace(tenant: string, templateId: string, version: string): DocumentPlace {
  return { tenant, collection: PROMPTS, scope: `version:${templateId}`, id: version };
}

/** A page of those that match. At most as many documents are read as a tenant may have templates. */
async function filled(
  read: (page: Page) => Promise<Listed<{ readonly body: string }>>,
  filter: PromptFilter,
  { limit, cursor }: Page,
): Promise<Listed<PromptTemplateDocument>> {
  const rows: PromptTemplateDocument[] = [];
  let next = cursor;
  do {
    const page = await read({ limit: limit - rows.length, ...(next !== undefined && { cursor: next }) });
    for (const { body } of page.rows) {
      const { newest } = JSON.parse(body) as Head;
      if (matches(newest, filter)) rows.push(newest);
    }
    next = page.nextCursor;
  } while (next !== undefined && rows.length < limit);
  return { rows, ...(next !== undefined && { nextCursor: next }) };
}

function matches(
  { kind, tags = [], modelHints, meta }: PromptTemplateDocument,
  filter: PromptFilter,
): boolean {
  return (
    (filter.kind === undefined || filter.kind === kind) &&
    filter.tags.every((tag) => tags.includes(tag)) &&
    (filter.modelClass === undefined || filter.modelClass === modelHints?.modelClass) &&
    (filter.source === undefined || filter.source === meta?.source)
  );
}

function found(template: PromptTemplateDocument): FoundPrompt {
  return { template, digest: sha256Hex(canonicalJson(template)) };
}

function templateOf(
  given: CreatePromptRequest,
  createdAt: string | undefined,
  at: number,
): PromptTemplateDocument {
  const { author } = given.meta ?? {};
  const meta = {
    ...(author !== undefined && { author }),
    createdAt: createdAt ?? toIso(at),
    updatedAt: toIso(at),
    source: 'user' as const,
  };
  return { ...given, meta };
}

function checkTemplate({ variables = [] }: CreatePromptRequest): void {
  const names = new Set<string>();
  for (const [index, { name, type, defaultValue, required }] of variables.entries()) {
    const field = `variables.${index}`;
    if (names.has(name))
      throw new HostError('validation_error', `${field}.name: "${name}" is declared twice.`, { field });
    names.add(name);
    if (defaultValue === undefined) continue;
    const given = Array.isArray(defaultValue) ? 'array' : typeof defaultValue;
    if (required)
      throw new HostError('validation_error', `${field}.defaultValue: a required variable needs none.`, {
        field,
      });
    if (given !== type)
      throw new HostError('validation_error', `${field}.defaultValue: must be of type ${type}.`, { field });
  }
}

function checkVersion(version: string, { versions, newest }: Head, isUpdate: boolean): void {
  if (versions.includes(version)) {
    const message = `Version ${version} of this template is there already, and stays as it is. Raise the version.`;
    throw new HostError('conflict', message, { version, newest: newest.version });
  }
  if (isUpdate && compareVersions(version, newest.version) <= 0) {
    const message = `The version must be higher than ${newest.version}, which is the newest.`;
    throw new HostError('conflict', message, { version, newest: newest.version });
  }
  if (versions.length >= MAX_VERSIONS) {
    const message = `The template has ${versions.length} versions, and may have no more. Begin another template.`;
    throw new HostError('conflict', message, { limit: MAX_VERSIONS });
  }
}

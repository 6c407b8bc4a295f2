import { composePrompt, type RenderedPrompt, type RenderPromptRequest } from '@weft/protocol';
import { hashesOf, hashOf, parseRef, refInvalid, refText } from '../../core/prompts/prompt-ref.ts';
import type { FoundPrompt } from '../../host/surface/prompts.ts';

export type FindPrompt = (templateId: string, version?: string) => Promise<FoundPrompt | undefined>;

/** The only library. */
export const LIBRARY_ID = 'default';

/** A rendered template, identified by its hashes. */
export async function renderPrompt(
  { ref, variables = {}, contentTrust = 'trusted' }: RenderPromptRequest,
  find: FindPrompt,
): Promise<RenderedPrompt> {
  const {
    templateId,
    version,
    libraryId,
    variableOverrides = {},
  } = typeof ref === 'string' ? parseRef(ref) : ref;
  const found =
    libraryId === undefined || libraryId === LIBRARY_ID ? await find(templateId, version) : undefined;
  if (found === undefined) throw refInvalid(refText(templateId, version));
  const values = { ...variables, ...variableOverrides };
  const composed = composePrompt(found.template, values, contentTrust === 'untrusted');
  return {
    hash: hashOf(composed.text),
    refs: [refText(templateId, found.template.version)],
    variableHashes: hashesOf(composed.values),
    contentTrust,
  };
}

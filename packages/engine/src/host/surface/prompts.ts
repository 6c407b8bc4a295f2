import type {
  CreatePromptRequest,
  PromptTemplateDocument,
  RenderedPrompt,
  RenderPromptRequest,
} from '@weft/protocol';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller } from './caller.ts';

/** Prompt templates of a tenant, by id and version. */
export interface Prompts {
  /** Throws `conflict` for a version that is there, and where there may be no more. */
  create(caller: Caller, template: CreatePromptRequest): Promise<PromptTemplateDocument>;
  /** Throws `conflict` unless the version is newer than all of the template; undefined when there is none. */
  update(caller: Caller, template: CreatePromptRequest): Promise<PromptTemplateDocument | undefined>;
  /** The newest version of each. */
  list(caller: Caller, filter: PromptFilter, page: Page): Promise<Listed<PromptTemplateDocument>>;
  get(caller: Caller, templateId: string, version?: string): Promise<FoundPrompt | undefined>;
  /** False when it does not exist. */
  remove(caller: Caller, templateId: string): Promise<boolean>;
  /** Throws `prompt_ref_invalid`, `prompt_variable_unresolved`, `prompt_variable_type_mismatch`, `validation_error`. */
  render(caller: Caller, request: RenderPromptRequest): Promise<RenderedPrompt>;
}

export interface PromptFilter {
  readonly kind?: string | undefined;
  /** All of them must be there. */
  readonly tags: readonly string[];
  readonly modelClass?: string | undefined;
  readonly source?: string | undefined;
}

export interface FoundPrompt {
  readonly template: PromptTemplateDocument;
  /** SHA-256 of its canonical form, hex. */
  readonly digest: string;
}

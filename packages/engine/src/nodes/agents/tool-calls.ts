import { isJsonObject, type JsonObject, parseStrictJson } from '@weft/protocol';
import type { PreparedAgent } from './agent-config.ts';
import type { Call, ListedTool } from './agent-history.ts';
import { matchesTool } from './tool-patterns.ts';

/** What is to be done about a call that a model wants: it is never made as it stands unless everything about it is in order. */
export type PlannedCall =
  /** Never made; the model hears why. */
  | { readonly type: 'refused'; readonly why: string }
  /** A person has said no. */
  | { readonly type: 'rejected'; readonly why: string }
  | {
      readonly type: 'call';
      readonly tool: ListedTool;
      readonly arguments: JsonObject;
      readonly state: 'ended' | 'ready' | 'needs-approval';
    };

const MAX_ARGUMENTS = 65_536;

export function planCall(
  call: Call,
  offered: ReadonlyMap<string, ListedTool>,
  prepared: PreparedAgent,
): PlannedCall {
  const tool = offered.get(call.asked.name);
  if (tool === undefined) return { type: 'refused', why: 'There is no tool of this name.' };
  const given = readArguments(call.asked.arguments);
  if (typeof given === 'string') return { type: 'refused', why: given };
  const planned = { type: 'call', tool, arguments: given } as const;
  if (call.record !== undefined) return { ...planned, state: 'ended' };
  if (!needsApproval(tool, prepared)) return { ...planned, state: 'ready' };
  const answer = call.approval?.result;
  if (answer === undefined) return { ...planned, state: 'needs-approval' };
  if (answer['action'] === 'accept') return { ...planned, state: 'ready' };
  const { comment } = answer;
  return {
    type: 'rejected',
    why: `A person has rejected this call.${typeof comment === 'string' ? ` They say: ${comment}` : ''}`,
  };
}

/** What the operator demands, no workflow waives. */
function needsApproval(tool: ListedTool, prepared: PreparedAgent): boolean {
  if (matchesTool(prepared.requireApproval, tool)) return true;
  return tool.needsApproval ?? (tool.isDestructive && !matchesTool(prepared.allowWithoutApproval, tool));
}

/** By the word of the tool, or of the child run that was started for it. */
export function isToolError({ isError, childStatus }: JsonObject): boolean {
  return isError === true || (childStatus !== undefined && childStatus !== 'completed');
}

function readArguments(text: string): JsonObject | string {
  if (text.length > MAX_ARGUMENTS) return `The arguments are longer than ${MAX_ARGUMENTS} characters.`;
  if (text.trim() === '') return {};
  try {
    const value = parseStrictJson(text, { maxDepth: 32 });
    return isJsonObject(value) ? value : 'The arguments must be a JSON object.';
  } catch {
    return 'The arguments are not JSON.';
  }
}

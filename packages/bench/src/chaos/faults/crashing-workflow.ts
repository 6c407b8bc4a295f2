import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';

/**
 * Runs that end the process which decides about them, as a defect of the host would: every process is started with a function of
 * the language changed, and the condition of an edge calls it.
 */

const WORD = 'end-the-process';
export const DEADLY_WORKFLOW = 'deadly';
const DELAY_MS = 200;

/** The file that changes it; for NODE_OPTIONS. */
export function writeDeadlyPreload(folder: string): string {
  const path = join(folder, 'deadly.cjs');
  const text = `const startsWith = String.prototype.startsWith;
String.prototype.startsWith = function (text, ...rest) {
  if (text === ${JSON.stringify(WORD)}) process.kill(process.pid, 'SIGKILL');
  return startsWith.call(this, text, ...rest);
};
`;
  writeFileSync(path, text);
  return path;
}

/** The delay comes first: so that the run is stored, and found by the next process, before it does harm. */
export function deadlyWorkflow(): JsonObject {
  const node = (id: string, typeId: string, config: JsonObject = {}): JsonObject => ({
    ...{ id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {} },
  });
  const condition = { type: 'expression', expression: `"x".startsWith("${WORD}")` };
  return {
    ...{
      id: DEADLY_WORKFLOW,
      name: DEADLY_WORKFLOW,
      version: '1',
      metadata: {},
      settings: {},
      variables: [],
    },
    nodes: [node('wait', 'core.delay', { ms: DELAY_MS }), node('end', 'core.noop')],
    edges: [{ id: 'e', sourceNodeId: 'wait', targetNodeId: 'end', condition }],
    triggers: [{ id: 'm', type: 'manual' }],
  };
}

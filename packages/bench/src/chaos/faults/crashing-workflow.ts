import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';

/**
 * Runs that crash the process which executes them, as a bug in the host would: every process preloads a patched built-in
 * function, and the condition of an edge calls it.
 */

const TRIGGER = 'end-the-process';
export const CRASHING_WORKFLOW = 'crashing';
const DELAY_MS = 200;

/** The file that patches it; for NODE_OPTIONS. */
export function writeCrashPreload(folder: string): string {
  const path = join(folder, 'crashing.cjs');
  const text = `const startsWith = String.prototype.startsWith;
String.prototype.startsWith = function (text, ...rest) {
  if (text === ${JSON.stringify(TRIGGER)}) process.kill(process.pid, 'SIGKILL');
  return startsWith.call(this, text, ...rest);
};
`;
  writeFileSync(path, text);
  return path;
}

/** The delay comes first, so that the run is stored, and found by the next process, before it crashes this one. */
export function crashingWorkflow(): JsonObject {
  const node = (id: string, typeId: string, config: JsonObject = {}): JsonObject => ({
    ...{ id, typeId, name: id, position: { x: 0, y: 0 }, config, inputs: {} },
  });
  const condition = { type: 'expression', expression: `"x".startsWith("${TRIGGER}")` };
  return {
    ...{
      id: CRASHING_WORKFLOW,
      name: CRASHING_WORKFLOW,
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

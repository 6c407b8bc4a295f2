import type { EffectNodeType } from '../model/node-type.ts';
import { noConfig } from '../nodes/config/config-schema.ts';

/** One memory for all of them: its entries can be counted. */
const MEMORY_REF = 'conformance/side-effects';

/** For tests of replays: it does something that can be seen from outside the run, so that doing it again would show. */
export const sideEffectNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'core.conformance.side-effect',
  title: 'Side effect',
  summary:
    'Writes an entry to the memory conformance/side-effects; a replay takes its recorded outcome instead.',
  conformanceOnly: true,
  config: noConfig,
  outputPorts: ['effectId', 'output'],
  dependsOn: () => [],
  perform: async ({ nodeId }, { memory, invocationId }) => {
    const { id } = await memory.write(MEMORY_REF, { id: invocationId, content: `performed by ${nodeId}` });
    return { outputs: { effectId: id, output: id } };
  },
};

import { NodeFailure, type PureNodeType } from '../model/node-type.ts';
import { noConfig } from '../nodes/config/config-schema.ts';

const CAPABILITY = 'conformance.never-provided';

export const requiresMissingNode: PureNodeType = {
  kind: 'pure',
  typeId: 'conformance.requiresMissing',
  title: 'Requires a missing capability',
  summary: 'Never runs: it requires a capability that no host provides.',
  config: noConfig,
  outputPorts: [],
  requires: [CAPABILITY],
  conformanceOnly: true,
  run: () => {
    throw new NodeFailure('capability_not_provided', `This host does not provide ${CAPABILITY}.`, {
      details: { capability: CAPABILITY },
    });
  },
};

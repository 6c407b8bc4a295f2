import { nameOf } from '@weft/protocol';
import { Type, type Static } from 'typebox';
import { NodeFailure, type PureNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';

const config = closedConfig({
  code: Type.Optional(nameOf({ minLength: 1, maxLength: 128 })),
  message: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  retryable: Type.Optional(Type.Boolean()),
});

export const failNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.fail',
  title: 'Fail',
  summary: 'Always fails, with the code and message of its config; useful to test error paths.',
  config,
  outputPorts: [],
  dependsOn: () => [],
  run: (input) => {
    const { code, message, retryable } = input.config as Static<typeof config>;
    throw new NodeFailure(code ?? 'conformance_test_failure', message ?? 'This node fails on purpose.', {
      retryable: retryable ?? false,
    });
  },
};

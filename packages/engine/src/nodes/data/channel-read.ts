import { nameOf } from '@weft/protocol';
import { NodeFailure, type PureNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';

export const channelReadNode: PureNodeType = {
  kind: 'pure',
  typeId: 'weft.channel.read',
  title: 'Channel read',
  summary: 'Outputs what a channel holds by now, if the channel lets this node read it.',
  config: closedConfig({ channelName: nameOf({ minLength: 1, maxLength: 256 }) }),
  outputPorts: ['output'],
  dependsOn: () => [],
  prepare: (config, tools) => {
    const name = String(config['channelName']);
    if (!tools.channels.has(name))
      tools.refuse('/channelName', `The workflow declares no channel "${name}".`);
  },
  run: ({ config, channels, nodeId }) => {
    const name = String(config['channelName']);
    if (!channels.has(name)) {
      throw new NodeFailure('channel_access_denied', `Node "${nodeId}" may not read channel "${name}".`, {
        details: {
          channel: name,
          requestedBy: { nodeId, typeId: 'weft.channel.read' },
          allowed: 'readers',
        },
      });
    }
    return { outputs: { output: channels.get(name) ?? null } };
  },
};

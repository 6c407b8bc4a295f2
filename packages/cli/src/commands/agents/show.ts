import type { AgentEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import type { Style } from '../../output/style.ts';
import { renderFields } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show an agent of an installed pack: its model, its tools, and what it lacks here',
  examples: [
    'weft agents show vendor.acme.support.triage',
    'weft agents show vendor.acme.support.triage --json',
  ],
  args: {
    agent: { type: 'positional', description: 'Id of the agent', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const agent = await client.agents.get(args.agent);
    cli.io.stdout.write(`${cli.json ? JSON.stringify(agent) : rendered(cli.style, agent)}\n`);
    return EXIT.done;
  },
});

function rendered(style: Style, agent: AgentEntry): string {
  const { memoryShape = {}, degraded = [], degradedMemoryDimensions = [], confidenceThreshold } = agent;
  const memory = Object.entries(memoryShape).flatMap(([kind, isWanted]) => (isWanted ? [kind] : []));
  const lacking = [...degraded, ...degradedMemoryDimensions.map((dimension) => `memory (${dimension})`)];
  return renderFields(style, [
    ['agent', agent.agentId],
    ['name', agent.persona],
    ['description', agent.description],
    ['pack', `${agent.packName} ${agent.packVersion}`],
    ['model', agent.modelClass],
    ['tools', agent.toolAllowlist.join(', ') || 'none'],
    ['schemas', agent.hasHandoffSchemas ? 'of what it is given, or returns' : undefined],
    ['memory', memory.length === 0 ? undefined : memory.join(', ')],
    ['threshold', confidenceThreshold === undefined ? undefined : String(confidenceThreshold)],
    ['lacks', lacking.length === 0 ? undefined : lacking.join(', ')],
  ]);
}

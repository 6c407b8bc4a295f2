import { setTimeout as pause } from 'node:timers/promises';
import type { Client, ClusterNode } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { CliError, EXIT, usageError } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { countText } from '../../output/count-text.ts';

const LOOK_EVERY_MS = 250;
const DEFAULT_TIMEOUT_S = 60;

export const drain = leaf({
  name: 'drain',
  summary: 'Drain a process: it claims no more runs and releases those it holds',
  examples: ['weft cluster drain web-1-3fa2b1', 'weft cluster drain web-1-3fa2b1 --wait --timeout 120'],
  args: {
    node: { type: 'positional', description: 'Name, as in weft cluster ls', required: true },
    wait: { type: 'boolean', description: 'Wait until it holds no runs' },
    timeout: {
      type: 'string',
      valueHint: 'SECONDS',
      description: `With --wait: at most this long (default ${DEFAULT_TIMEOUT_S})`,
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const timeoutMs = secondsOf(args.timeout) * 1_000;
    const { client } = await connect(cli.io, args);
    const asked = await client.cluster.drain(args.node);
    const isAlone = !(await client.cluster.nodes()).some(
      ({ name, state }) => name !== args.node && state === 'active',
    );
    if (isAlone) cli.io.stderr.write('No other process is active: its runs wait until one is started.\n');
    print(cli, args.wait === true ? await untilDrained(client, args.node, timeoutMs) : asked);
    return EXIT.done;
  },
});

/** A process that is gone holds nothing either. */
async function untilDrained(client: Client, name: string, timeoutMs: number): Promise<ClusterNode> {
  const until = performance.now() + timeoutMs;
  let last: ClusterNode | undefined;
  while (performance.now() < until) {
    const found = (await client.cluster.nodes()).find((node) => node.name === name);
    if (found?.state === 'drained') return found;
    if (found === undefined && last !== undefined) return { ...last, runs: 0, state: 'drained' };
    last = found ?? last;
    await pause(LOOK_EVERY_MS);
  }
  const holds = last === undefined ? '' : ` It still holds ${countText(last.runs, 'run')}.`;
  throw new CliError(
    EXIT.unmet,
    'drain_timeout',
    `${name} is not drained after ${timeoutMs / 1_000} s.${holds} It is still draining. Check with: weft cluster ls`,
  );
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_TIMEOUT_S;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usageError('--timeout must be a whole number of seconds.');
  return Number(text);
}

function print(cli: Cli, node: ClusterNode): void {
  const line = cli.json
    ? JSON.stringify(node)
    : `${node.name}  ${node.state}  ${countText(node.runs, 'run')}`;
  cli.io.stdout.write(shown`${line}\n`);
}

import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderFields } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { TRIGGER_ARG } from './trigger-arg.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show a webhook trigger',
  examples: ['weft triggers show TRIGGER-ID'],
  args: { trigger: TRIGGER_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const trigger = await client.triggers.get(args.trigger);
    const { ownedBy, inputMapping = {}, changes } = trigger;
    const text = renderFields(cli.style, [
      ['trigger', trigger.id],
      ['workflow', trigger.workflowId],
      ['state', trigger.state],
      ['url', trigger.ingestUrl],
      ['scheme', trigger.scheme],
      ['secret', trigger.secretId ?? trigger.secretFingerprint],
      ['declared by', ownedBy && `workflow ${ownedBy.workflowId}, trigger ${ownedBy.triggerId}`],
      ...Object.entries(inputMapping).map(([input, source]) => [`input ${input}`, source] as const),
      ...changes.map(({ at, to, reason, by }) => [at, `${to}: ${reason} by ${by}`] as const),
    ]);
    cli.io.stdout.write(`${cli.json ? JSON.stringify(trigger) : text}\n`);
    return EXIT.done;
  },
});

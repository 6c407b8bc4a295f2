import type { AnnotationCreate } from '@weft/protocol';
import { HOST_ARGS, leaf, RUN_ARG } from '../parsing/command.ts';
import { connectToRun } from '../connecting/run-id.ts';
import { EXIT, usageError } from '../exit-code.ts';
import { signalText } from '../output/annotation-list.ts';
import { shown } from '../output/terminal-text.ts';

type Signal = AnnotationCreate['signal'];

export const annotate = leaf({
  name: 'annotate',
  summary: 'Annotate a run with a rating, label, flag or correction',
  examples: [
    'weft annotate RUN --rating 4',
    'weft annotate RUN --flag --node charge --note "charged twice"',
    'weft annotate RUN --correction "The total is 12.50"',
  ],
  args: {
    run: RUN_ARG,
    rating: { type: 'string', valueHint: '1..5', description: 'How good it was' },
    label: { type: 'string', valueHint: 'TEXT', description: 'A label' },
    flag: { type: 'boolean', description: 'Flag the run for review' },
    correction: { type: 'string', valueHint: 'TEXT', description: 'What it should have been' },
    node: { type: 'string', valueHint: 'NODE', description: 'About this node only' },
    event: { type: 'string', valueHint: 'EVENT', description: 'About this event only (its eventId)' },
    note: { type: 'string', valueHint: 'TEXT', description: 'Why' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const signal = signalOf(args);
    const target = {
      ...(args.node !== undefined && { nodeId: args.node }),
      ...(args.event !== undefined && { eventId: args.event }),
    };
    const { client, runId } = await connectToRun(cli.io, args);
    const annotation = await client.annotations.create(runId, {
      signal,
      ...(Object.keys(target).length > 0 && { target }),
      ...(args.note !== undefined && { note: args.note }),
    });
    const text = cli.json
      ? JSON.stringify(annotation)
      : `${annotation.annotationId}  ${signalText(annotation)}`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});

interface SignalArgs {
  readonly rating?: string | undefined;
  readonly label?: string | undefined;
  readonly flag?: boolean | undefined;
  readonly correction?: string | undefined;
}

function signalOf({ rating, label, flag, correction }: SignalArgs): Signal {
  const given: Signal[] = [
    ...(rating === undefined ? [] : [{ kind: 'rating', rating: parseRating(rating) } as const]),
    ...(label === undefined ? [] : [{ kind: 'label', label } as const]),
    ...(flag === true ? [{ kind: 'flag' } as const] : []),
    ...(correction === undefined ? [] : [{ kind: 'correction', correction } as const]),
  ];
  const [signal] = given;
  if (signal === undefined || given.length > 1)
    throw usageError('weft annotate takes exactly one of --rating, --label, --flag and --correction.');
  return signal;
}

function parseRating(text: string): number {
  if (!/^[1-5]$/.test(text)) throw usageError(`--rating takes a number from 1 to 5, not "${text}".`);
  return Number(text);
}

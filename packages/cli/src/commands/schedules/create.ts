import type { NewSchedule, OverlapPolicy } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { renderSchedule } from '../../output/schedule-view.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { asDeclared } from '../../parsing/declared-inputs.ts';
import { readGivenValues } from '../../parsing/key-values.ts';
import { parseDuration, parseExpiry } from '../../parsing/moment.ts';
import { shownDefinition } from '../workflows/find-workflow.ts';

const OVERLAP: Readonly<Record<OverlapPolicy, string>> = {
  skip: 'leave the due time out',
  'queue-one': 'keep one due time until the run has ended',
  'queue-all': 'keep all of them, up to 100',
  'cancel-other': 'cancel the run, then start',
  allow: 'start next to it',
};

export const create = leaf({
  name: 'create',
  summary: 'Start a workflow by the clock',
  examples: [
    'weft schedules create nightly --workflow nightly-report --cron "0 2 * * *" --tz Europe/Berlin',
    'weft schedules create poll --workflow http-health-check --every 10m --jitter 30s --input attempts=2',
    'weft schedules create march --workflow batch-totals --every 1d --start 2027-03-01T00:00:00Z --end 2027-04-01T00:00:00Z',
  ],
  args: {
    name: { type: 'positional', description: 'A name of your own: a-z, 0-9, - and _', required: true },
    workflow: { type: 'string', valueHint: 'ID', description: 'The workflow to start' },
    every: { type: 'string', valueHint: 'TIME', description: 'The interval: 30s, 10m, 2h, 1d' },
    cron: { type: 'string', valueHint: 'PATTERN', description: 'Five fields, such as "0 9 * * 1-5"' },
    tz: { type: 'string', valueHint: 'ZONE', description: 'Time zone of --cron (default UTC)' },
    input: {
      type: 'string',
      alias: 'i',
      valueHint: 'NAME=VALUE|@FILE',
      description:
        'An input of every run; JSON is parsed unless the workflow declares a string; may be repeated',
    },
    overlap: { type: 'string', valueHint: 'POLICY', description: 'While a run is open (default skip)' },
    jitter: { type: 'string', valueHint: 'TIME', description: 'Put each start off by up to this' },
    'catch-up': {
      type: 'string',
      valueHint: 'TIME',
      description: 'After an outage, start what was missed by no more than this (default 1h)',
    },
    start: { type: 'string', valueHint: 'TIME', description: 'Not before: 2h from now, or an ISO time' },
    end: { type: 'string', valueHint: 'TIME', description: 'Not after: 30d from now, or an ISO time' },
    'pause-on-failure': { type: 'boolean', description: 'Pause when a run fails' },
    ...HOST_ARGS,
  },
  values: { title: 'Policies of --overlap', rows: OVERLAP },
  async run({ cli, args, all }) {
    const { io } = cli;
    if (args.workflow === undefined) throw usageError('weft schedules create needs --workflow ID.');
    if ((args.every === undefined) === (args.cron === undefined)) {
      throw usageError('weft schedules create needs --every TIME or --cron PATTERN, and one of them.');
    }
    const given = await readGivenValues('input', all('input'), io.cwd);
    const now = Date.now();
    const wanted: NewSchedule = {
      name: args.name,
      workflowId: args.workflow,
      ...(args.every !== undefined && { everyMs: parseDuration('every', args.every) }),
      ...(args.cron !== undefined && { cron: args.cron }),
      ...(args.tz !== undefined && { timeZone: args.tz }),
      ...(args.overlap !== undefined && { overlap: parseOverlap(args.overlap) }),
      ...(args.jitter !== undefined && { jitterMs: parseDuration('jitter', args.jitter) }),
      ...(args['catch-up'] !== undefined && { catchUpMs: parseDuration('catch-up', args['catch-up']) }),
      ...(args.start !== undefined && { start: parseExpiry('start', args.start, now) }),
      ...(args.end !== undefined && { end: parseExpiry('end', args.end, now) }),
      ...(args['pause-on-failure'] === true && { pauseOnFailure: true }),
    };
    const { client } = await connect(io, args);
    const definition =
      given.texts.size === 0 ? undefined : await shownDefinition(client, args.workflow, undefined);
    const inputs = definition === undefined ? given.values : asDeclared(definition, given);
    const made = await client.schedules.create({ ...wanted, inputs });
    io.stdout.write(cli.json ? `${JSON.stringify(made)}\n` : `${renderSchedule(cli.style, made)}\n`);
    return EXIT.done;
  },
});

function parseOverlap(text: string): OverlapPolicy {
  const known = Object.keys(OVERLAP).find((policy): policy is OverlapPolicy => policy === text);
  if (known !== undefined) return known;
  throw usageError(`--overlap takes one of ${Object.keys(OVERLAP).join(', ')}, not "${text}".`);
}

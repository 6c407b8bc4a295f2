import type { Client } from '@weft/sdk';
import type { Cli } from '../parsing/command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { createLiveView } from './live-view.ts';
import { applyEvent, newProgress } from './run-progress.ts';
import { waitingText } from './question.ts';
import { eventLine, outcomeText, renderProgress } from './run-view.ts';
import { createQuestionNotices } from '../interrupts/question-notices.ts';
import { shown } from './terminal-text.ts';
import { shellCommand } from './shell-command.ts';

const REDRAW_MS = 200;
/** Between two drawings: a run may have more events than a person can see, and ten thousand nodes. */
const LEAST_REDRAW_MS = 40;

/**
 * Follows a run to its end: redrawn on a terminal, one line per event elsewhere, one JSON document per line with --json.
 * When it waits for an answer, the command that gives it is shown, once. The exit code is the run's outcome. Ctrl-C leaves
 * the run alone and says how to cancel it.
 */
export async function watchRun(cli: Cli, client: Client, runId: string): Promise<ExitCode> {
  const { io, style } = cli;
  const progress = newProgress(runId);
  const detach = new AbortController();
  const offSignal = io.onSignal(() => detach.abort());
  const view = io.isTTY && !cli.json ? createLiveView(io) : undefined;
  let drawnAt = 0;
  const redraw = (): void => {
    drawnAt = Date.now();
    view?.draw(renderProgress(style, progress, drawnAt, io.rows));
  };
  const say = (text: string): void => {
    if (view === undefined) io.stderr.write(`${text}\n`);
    else {
      view.say(text);
      redraw();
    }
  };
  const notices = createQuestionNotices((question) => {
    if (!cli.json) say(waitingText(question));
  });
  const timer = view === undefined ? undefined : setInterval(redraw, REDRAW_MS);
  try {
    const events = client.runs.events(runId, {
      mode: 'debug',
      signal: detach.signal,
      onReconnect: () => say('The connection was lost; trying again …'),
    });
    for await (const event of events) {
      applyEvent(progress, event);
      notices.see(event);
      if (cli.json) io.stdout.write(`${JSON.stringify(event)}\n`);
      else if (view === undefined) io.stdout.write(shown`${eventLine(style, event, progress.startedAt)}\n`);
      else if (Date.now() - drawnAt >= LEAST_REDRAW_MS) redraw();
    }
  } catch (error) {
    if (!detach.signal.aborted) throw error;
  } finally {
    clearInterval(timer);
    notices.close();
    redraw();
    view?.end();
    offSignal();
  }
  if (detach.signal.aborted) return detached(cli, runId);
  if (!cli.json) io.stdout.write(`${outcomeText(style, progress)}\n`);
  return progress.status === 'completed' ? EXIT.done : EXIT.failed;
}

function detached(cli: Cli, runId: string): ExitCode {
  cli.io.stderr.write(
    shown`\nDetached; run ${runId} continues.\n  Watch again:  ${shellCommand('runs events', [runId], '--follow')}\n  Cancel it:    ${shellCommand('runs cancel', [runId])}\n`,
  );
  return EXIT.unmet;
}

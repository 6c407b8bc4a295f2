import { useState } from 'react';
import { ApiError, type LinkedQuestion } from '@weft/sdk';
import { useLoaded, useNow } from '../app/hooks.ts';
import { clientWith } from '../app/session.ts';
import { controlsShown } from '../ui/shown-text.ts';
import { Loading, Problem } from '../ui/states.tsx';
import { agoText, timeText } from '../ui/time-text.ts';
import { titleOf } from './question.ts';
import { QuestionForm } from './question-form.tsx';

/** The page behind a signed link: one question, and no need to sign in. The token stays in the fragment, which is sent to no one. */
export function AnswerPage({ token }: { readonly token: string }) {
  const [client] = useState(() => clientWith(null));
  const [asked, reload] = useLoaded(async () => await client.interrupts.readLink(token), [token]);
  const [after, setAfter] = useState<string>();
  const { value: linked } = asked;
  return (
    <main className="sign-in answer" id="main">
      <div className="card">
        <header>
          <div>
            {linked !== undefined && (
              <p className="small muted">
                <Asking {...linked} />
              </p>
            )}
            <h1>{linked === undefined ? 'Weft' : titleOf(linked.question)}</h1>
            {linked !== undefined && after === undefined && <Moments linked={linked} />}
          </div>
        </header>
        <div className="body stack">
          {asked.state === 'loading' && <Loading what="the question" />}
          {asked.state === 'failed' && <Gone error={asked.error} onRetry={reload} />}
          {after !== undefined && (
            <div role="status" className="stack">
              <h2>Thank you, your answer is recorded.</h2>
              <p className="muted">
                {after.startsWith('waiting')
                  ? 'The run waits for more answers.'
                  : 'The run continues. You can close this page.'}
              </p>
            </div>
          )}
          {after === undefined && linked !== undefined && asked.state === 'ready' && (
            <QuestionForm
              question={linked.question}
              onAnswer={async (value) => setAfter((await client.interrupts.answerLink(token, value)).status)}
            />
          )}
        </div>
      </div>
    </main>
  );
}

/** Which workflow asks: its name for people, its id for operators. */
function Asking({ workflow: { id, name } }: LinkedQuestion) {
  const isNamed = name !== '' && name !== id;
  return (
    <>
      The workflow <strong>{controlsShown(isNamed ? name : id)}</strong>
      {isNamed && (
        <>
          {' '}
          (<span className="mono">{controlsShown(id)}</span>)
        </>
      )}{' '}
      asks you
    </>
  );
}

function Moments({ linked: { requestedAt, expiresAt, linkExpiresAt } }: { readonly linked: LinkedQuestion }) {
  const now = useNow(1_000);
  const asked = Date.parse(requestedAt);
  const until = Date.parse(linkExpiresAt);
  return (
    <p className="small muted">
      Asked <span title={timeText(asked)}>{agoText(asked, now)}</span>
      {expiresAt !== undefined && <> · open until {timeText(Date.parse(expiresAt))}</>} ·{' '}
      {until > now
        ? `this link works until ${timeText(until)} (${agoText(until, now)})`
        : 'this link has expired'}
    </p>
  );
}

function Gone({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (!(error instanceof ApiError)) return <Problem error={error} onRetry={onRetry} />;
  return (
    <div className="stack">
      <h2>This question can no longer be answered here</h2>
      <p>{error.message}</p>
      <p className="muted">Ask the sender of the link for a new one.</p>
    </div>
  );
}

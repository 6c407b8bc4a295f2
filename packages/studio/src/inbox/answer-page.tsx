import { useState } from 'react';
import { ApiError } from '@weft/sdk';
import { useLoaded, useNow } from '../app/hooks.ts';
import { clientWith } from '../app/session.ts';
import { Loading, Problem } from '../ui/states.tsx';
import { agoText, timeText } from '../ui/time-text.ts';
import { linkExpiry, titleOf } from './question.ts';
import { QuestionForm } from './question-form.tsx';

/** The page behind a signed link: one question, and no need to sign in. The token stays in the fragment, which is sent to no one. */
export function AnswerPage({ token }: { readonly token: string }) {
  const [client] = useState(() => clientWith(null));
  const [asked, reload] = useLoaded(async () => await client.interrupts.inspectLink(token), [token]);
  const [after, setAfter] = useState<string>();
  return (
    <main className="sign-in answer" id="main">
      <div className="card">
        <header>
          <div>
            <p className="small muted">A workflow asks you</p>
            <h1>{asked.value === undefined ? 'Weft' : titleOf(asked.value)}</h1>
            <Expiry token={token} />
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
          {after === undefined && asked.value !== undefined && asked.state === 'ready' && (
            <QuestionForm
              question={asked.value}
              onAnswer={async (value) => setAfter((await client.interrupts.answerLink(token, value)).status)}
            />
          )}
        </div>
      </div>
    </main>
  );
}

function Expiry({ token }: { readonly token: string }) {
  const now = useNow(1_000);
  const expiresAt = linkExpiry(token);
  if (expiresAt === undefined) return null;
  const text =
    expiresAt > now
      ? `This link works until ${timeText(expiresAt)} (${agoText(expiresAt, now)})`
      : 'This link has expired';
  return <p className="small muted">{text}</p>;
}

function Gone({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (!(error instanceof ApiError)) return <Problem error={error} onRetry={onRetry} />;
  return (
    <div className="stack">
      <h2>This question can no longer be answered here</h2>
      <p>{error.message}</p>
      <p className="muted">Ask whoever sent you the link for a new one.</p>
    </div>
  );
}

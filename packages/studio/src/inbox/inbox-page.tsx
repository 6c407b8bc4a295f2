import { useEvery, useLoaded, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { QuestionCard } from './question-card.tsx';

export function InboxPage() {
  const { client, session } = useSigned();
  const mayAnswer = may(session, 'approvals:respond');
  const [open, reload] = useLoaded(
    async () => (mayAnswer ? (await client.interrupts.list({ limit: 100 })).items : []),
    [mayAnswer],
  );
  useEvery(5_000, reload);
  const questions = open.value ?? [];
  return (
    <div className="page narrow">
      <header className="page-head">
        <h1>Inbox</h1>
        {questions.length > 0 && (
          <span className="muted">
            {questions.length === 1 ? '1 open question' : `${questions.length} open questions`}
          </span>
        )}
      </header>
      {open.state === 'failed' && <Problem error={open.error} onRetry={reload} />}
      {open.state === 'loading' && open.value === undefined && <Loading what="questions" />}
      {!mayAnswer && (
        <Empty title="Your key may not answer questions">It needs the scope approvals:respond.</Empty>
      )}
      {mayAnswer && open.value !== undefined && questions.length === 0 && (
        <Empty title="Nothing waits for you">
          <p>When a run asks for an approval or an answer, it appears here.</p>
        </Empty>
      )}
      {questions.map((question) => (
        <QuestionCard
          key={`${question.runId} ${question.interruptId}`}
          question={question}
          onAnswered={reload}
          isListed
        />
      ))}
    </div>
  );
}

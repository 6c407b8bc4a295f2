import { nodeNameOf, type OpenInterrupt } from '@weft/sdk';
import { useNow, useSigned } from '../app/hooks.ts';
import { Icon } from '../ui/icons.tsx';
import { agoText, timeText } from '../ui/time-text.ts';
import { quorumOf, titleOf } from './question.ts';
import { QuestionForm } from './question-form.tsx';

interface QuestionCardProps {
  readonly question: OpenInterrupt;
  readonly onAnswered: () => void;
  /** In a list of many runs, which one asks. */
  readonly isListed?: boolean;
}

export function QuestionCard({ question, onAnswered, isListed = false }: QuestionCardProps) {
  const { client } = useSigned();
  const now = useNow(5_000);
  const quorum = quorumOf(question);
  return (
    <section className="card question" aria-label={titleOf(question)}>
      <header>
        <Icon name="person" size={16} />
        <div>
          <h2>{titleOf(question)}</h2>
          <p className="small muted">
            {isListed && (
              <>
                <a href={`#/runs/${encodeURIComponent(question.runId)}`}>{question.workflowId}</a> ·{' '}
              </>
            )}
            node {nodeNameOf(question)} · asked{' '}
            <span title={timeText(Date.parse(question.requestedAt))}>
              {agoText(Date.parse(question.requestedAt), now)}
            </span>
            {question.expiresAt !== undefined && (
              <>
                {' '}
                · until <span>{timeText(Date.parse(question.expiresAt))}</span>
              </>
            )}
          </p>
        </div>
        {quorum !== undefined && (
          <span className="status tone-wait spread">
            {quorum.for} of {quorum.required} approvals{quorum.against > 0 && `, ${quorum.against} against`}
          </span>
        )}
      </header>
      <div className="body stack">
        {question.votes.length > 0 && (
          <ul className="row wrap small">
            {question.votes.map(({ voter, action }) => (
              <li key={voter} className="tag">
                {voter}: {action}
              </li>
            ))}
          </ul>
        )}
        <QuestionForm
          question={question}
          onAnswer={async (value) => {
            await client.runs.resolve(question.runId, nodeNameOf(question), value);
            onAnswered();
          }}
        />
      </div>
    </section>
  );
}

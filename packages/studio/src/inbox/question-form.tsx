import { useMemo, useState } from 'react';
import type { Json } from '@weft/protocol/plain';
import { FormFields } from '../form/form-fields.tsx';
import { type FormValues, initialValues, readForm } from '../form/form-model.ts';
import { JsonView } from '../ui/json-view.tsx';
import { problemText } from '../ui/states.tsx';
import { type AskedQuestion, type QuestionAction, questionForm } from './question.ts';

interface QuestionFormProps {
  readonly question: AskedQuestion;
  readonly onAnswer: (value: Json) => Promise<void>;
}

/** What is asked, and the answer to it. The host checks the answer; what it says against it stands below the form. */
export function QuestionForm({ question, onAnswer }: QuestionFormProps) {
  const form = useMemo(() => questionForm(question), [question]);
  const [values, setValues] = useState<FormValues>(() => initialValues(form.fields));
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const answer = (action: QuestionAction): void => {
    const read = readForm(form.fields, values);
    const found = action.skipsForm === true ? {} : read.problems;
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    setRefusal(undefined);
    onAnswer(action.answer(read.value)).catch((error: unknown) => {
      setRefusal(problemText(error));
      setBusy(false);
    });
  };
  return (
    <form className="stack" onSubmit={(event) => event.preventDefault()}>
      {form.description !== undefined && <p>{form.description}</p>}
      {form.subject !== undefined && (
        <div className="subject">
          <JsonView value={form.subject} />
        </div>
      )}
      <FormFields fields={form.fields} values={values} problems={problems} onChange={setValues} />
      {refusal !== undefined && (
        <div className="notice bad" role="alert">
          {refusal}
        </div>
      )}
      <div className="row wrap">
        {form.actions.map((action) => (
          <button
            key={action.label}
            type="button"
            className={`button ${action.tone}`}
            disabled={isBusy}
            onClick={() => answer(action)}
          >
            {action.label}
          </button>
        ))}
      </div>
    </form>
  );
}

import { lazy, Suspense, useId } from 'react';
import { Boundary } from '../ui/boundary.tsx';
import { oneLine } from '../ui/shown-text.ts';
import { type FormField, type FormValues, nameOf } from './form-model.ts';

/** Fetched with the first field that is JSON. */
const JsonEditor = lazy(async () => ({ default: (await import('./json-editor.tsx')).JsonEditor }));

interface FormFieldsProps {
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (values: FormValues) => void;
}

export function FormFields({ fields, values, problems, onChange }: FormFieldsProps) {
  return (
    <>
      {fields.map((field) => {
        const name = nameOf(field);
        return (
          <Field
            key={name}
            field={field}
            value={values[name] ?? ''}
            problem={problems[name]}
            onChange={(value) => onChange({ ...values, [name]: value })}
          />
        );
      })}
    </>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

function Field({ field, value, problem, onChange }: FieldProps) {
  const id = useId();
  const shared = {
    id,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-more`,
    'aria-required': field.isRequired,
  };
  return (
    <div className="field">
      {field.kind !== 'boolean' && (
        <label htmlFor={id}>
          {field.label}
          {!field.isRequired && <span className="muted"> (optional)</span>}
        </label>
      )}
      <Control field={field} value={value} onChange={onChange} shared={shared} />
      <div id={`${id}-more`}>
        {field.hint !== undefined && <p className="hint">{field.hint}</p>}
        {problem !== undefined && <p className="problem">{problem}</p>}
      </div>
    </div>
  );
}

interface ControlProps extends Pick<FieldProps, 'field' | 'value' | 'onChange'> {
  readonly shared: Readonly<Record<string, string | boolean>> & { readonly id: string };
}

function Control({ field, value, onChange, shared }: ControlProps) {
  switch (field.kind) {
    case 'boolean':
      return (
        <label className="check" htmlFor={shared.id}>
          <input
            {...shared}
            type="checkbox"
            checked={value === 'true'}
            onChange={(event) => onChange(String(event.target.checked))}
          />
          {field.label}
        </label>
      );
    case 'choice':
      return (
        <select
          {...shared}
          className="input"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">Choose…</option>
          {(field.choices ?? []).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {oneLine(choice, 80)}
            </option>
          ))}
        </select>
      );
    case 'json':
      return (
        <Boundary fallback={<TextArea value={value} onChange={onChange} shared={shared} isCode />}>
          <Suspense fallback={<TextArea value={value} onChange={onChange} shared={shared} isCode />}>
            <JsonEditor
              label={field.label}
              value={value}
              isInvalid={shared['aria-invalid'] === true}
              isRequired={field.isRequired}
              onChange={onChange}
            />
          </Suspense>
        </Boundary>
      );
    case 'long-text':
      return <TextArea value={value} onChange={onChange} shared={shared} />;
    case 'number':
    case 'text':
      return (
        <input
          {...shared}
          className="input"
          type={field.isSecret === true ? 'password' : 'text'}
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

interface TextAreaProps extends Pick<ControlProps, 'value' | 'onChange' | 'shared'> {
  readonly isCode?: boolean;
}

function TextArea({ value, onChange, shared, isCode = false }: TextAreaProps) {
  return (
    <textarea
      {...shared}
      className={`input ${isCode ? 'mono' : ''}`}
      rows={isCode ? 4 : 3}
      spellCheck={!isCode}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

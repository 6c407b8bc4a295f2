import { type FormEvent, useState } from 'react';
import { problemText } from '../ui/states.tsx';
import { HOST, openSession, type Session } from './session.ts';

interface SignInProps {
  /** What was wrong with the link, or with the key that was used before. */
  readonly problem: string | undefined;
  readonly onSigned: (session: Session) => void;
}

export function SignIn({ problem, onSigned }: SignInProps) {
  const [key, setKey] = useState('');
  const [refused, setRefused] = useState(problem);
  const [isBusy, setBusy] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    openSession(key.trim()).then(onSigned, (error: unknown) => {
      setBusy(false);
      setRefused(problemText(error));
    });
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <div className="body stack">
          <div>
            <h1>Sign in to Weft</h1>
            <p className="muted small">{HOST}</p>
          </div>
          {refused !== undefined && (
            <div className="notice bad" role="alert">
              {refused}
            </div>
          )}
          <div className="field">
            <label htmlFor="key">API key</label>
            <input
              id="key"
              className="input mono"
              type="password"
              autoComplete="off"
              spellCheck={false}
              required
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
            <p className="hint">Kept in this tab until it is closed.</p>
          </div>
          <button type="submit" className="button primary" disabled={isBusy || key.trim() === ''}>
            {isBusy ? 'Signing in…' : 'Sign in'}
          </button>
          <p className="hint muted small">
            On the machine of the host, <code>weft open</code> signs you in without typing a key. The key of a
            local host is in the file that <code>weft serve</code> names when it starts.
          </p>
          <p className="small">
            <a href="#/compare">Compare two bundle files</a> <span className="muted">without signing in</span>
          </p>
        </div>
      </form>
    </main>
  );
}

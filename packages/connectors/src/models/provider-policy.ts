import { type ModelPolicy, NodeFailure, POLICY_DENIED } from '@weft/engine';
import type { ModelName } from './models-config.ts';

/** Refuses what the operator does not want, before any key is read. The error does not show the policy itself. */
export function checkPolicy(
  policy: ModelPolicy,
  { provider, model }: ModelName,
  hasCredential: boolean,
): void {
  switch (policy.mode) {
    case 'optional':
      return;
    case 'disabled':
      throw denied(provider, 'provider_disabled', `The provider "${provider}" is disabled on this host.`);
    case 'required':
      if (hasCredential) return;
      throw denied(
        provider,
        'byok_required',
        `The provider "${provider}" is asked with a credential of the run's own: name one in configurable["ai.credentialRef"].`,
      );
    case 'restricted':
      if (policy.allowedModels?.some((glob) => matches(glob, model)) === true) return;
      throw denied(provider, 'model_not_allowed', `This model of "${provider}" is not allowed on this host.`);
  }
}

/** Where only the run's own credential will do, and it does not resolve. */
export function unresolvedCredential(provider: string): NodeFailure {
  return denied(
    provider,
    'byok_required_but_unresolved',
    `The provider "${provider}" is asked with a credential of the run's own, and the one it names is not set.`,
  );
}

function denied(provider: string, reason: string, message: string): NodeFailure {
  return new NodeFailure(POLICY_DENIED, message, { details: { provider, reason } });
}

/** `*` stands for any characters; the rest for itself. Two indexes, so that no pattern can take long. */
function matches(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) return glob === name;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

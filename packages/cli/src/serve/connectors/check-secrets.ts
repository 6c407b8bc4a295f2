import type { Caller, Host } from '@weft/engine';
import { unusable } from '../../exit-code.ts';

/** A secret that the config file names. */
export interface WantedSecret {
  readonly field: string;
  readonly secretId: string;
  /** What the host can be started without until the secret is set. */
  readonly without: string;
}

/** Throws CliError for the first that is not there. */
export async function checkSecrets(
  wanted: readonly WantedSecret[],
  host: Pick<Host, 'secrets'>,
  operator: Caller,
): Promise<void> {
  if (wanted.length === 0) return;
  const known = await host.secrets.list(operator);
  for (const { field, secretId, without } of wanted) {
    const kept = known.find(({ id, scope }) => id === secretId && scope === 'tenant');
    if (kept?.usable === true) continue;
    throw unusable(
      'bad_config',
      `${field} names the secret "${secretId}", which ${kept === undefined ? 'is not set' : 'was stored with another key'}. ` +
        `Start the host without ${without}, set it with: weft secrets set ${secretId}, and start it again.`,
    );
  }
}

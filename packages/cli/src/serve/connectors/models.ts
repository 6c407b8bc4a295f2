import type { Caller, Host, Models } from '@weft/engine';
import type { Json } from '@weft/protocol/plain';
import type { ModelsConfig } from '@weft/connectors/models';
import { type CliError, unusable } from '../../exit-code.ts';

/** The models of a config file. */
export interface ServedModels {
  /** Absent where the file names none. */
  readonly models: Models | undefined;
  /** Throws CliError for the first key that is not there; the host must have started. */
  checkKeys(host: Pick<Host, 'secrets'>, operator: Caller): Promise<void>;
}

/** Loaded only where it is wanted: the libraries of the providers are large. */
export async function readModels(block: Json | undefined): Promise<ServedModels> {
  if (block === undefined) return { models: undefined, checkKeys: () => Promise.resolve() };
  const { createModels, ModelsConfigError, readModelsConfig } = await import('@weft/connectors/models');
  try {
    const config = readModelsConfig(block);
    return { models: createModels(config), checkKeys: (host, operator) => checkKeys(config, host, operator) };
  } catch (error) {
    throw error instanceof ModelsConfigError ? badConfig(error.message, error) : error;
  }
}

async function checkKeys(
  { providers }: ModelsConfig,
  host: Pick<Host, 'secrets'>,
  operator: Caller,
): Promise<void> {
  const kept = new Map(
    (await host.secrets.list(operator)).flatMap(({ id, scope, usable }) =>
      scope === 'tenant' ? [[id, usable] as const] : [],
    ),
  );
  for (const { name, secretId } of providers.values()) {
    if (secretId === undefined || kept.get(secretId) === true) continue;
    const problem = kept.has(secretId) ? 'was stored with another key' : 'is not set';
    throw badConfig(
      `models.providers.${name}.apiKey names the secret "${secretId}", which ${problem}. ` +
        `Start the host without this provider, set it with: weft secrets set ${secretId}, and start it again.`,
    );
  }
}

function badConfig(message: string, cause?: unknown): CliError {
  return unusable('bad_config', message, cause);
}

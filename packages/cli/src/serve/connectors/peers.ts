import type { A2aPeer } from '@weft/connectors/a2a';
import type { Caller, Host, Peers } from '@weft/engine';
import type { Json } from '@weft/protocol/plain';
import { unusable } from '../../exit-code.ts';
import { checkSecrets } from './check-secrets.ts';

/** The agents of other hosts in a config file. */
export interface ServedPeers {
  readonly peers: Peers;
  /** Throws CliError for the first key that is not there; the host must have started. */
  checkSecrets(host: Pick<Host, 'secrets'>, operator: Caller): Promise<void>;
}

/** Where the fake peer of a conformance suite listens. Read by test hosts alone. */
const SUITE_PEER = 'OPENWOP_A2A_FAKE_PEER_URL';

/** Loaded only where it is wanted: the SDK is large. */
export async function readPeers(
  block: Json | undefined,
  suitePeer: string | undefined,
): Promise<ServedPeers | undefined> {
  if (block === undefined && suitePeer === undefined) return undefined;
  const { A2aConfigError, createA2aPeers, readA2aPeers } = await import('@weft/connectors/a2a');
  let configured: readonly A2aPeer[];
  try {
    configured = [
      ...(suitePeer === undefined ? [] : readA2aPeers(suiteBlock(suitePeer))),
      ...(block === undefined ? [] : readA2aPeers(block)),
    ];
  } catch (error) {
    throw error instanceof A2aConfigError ? unusable('bad_config', error.message, error) : error;
  }
  const wanted = configured.flatMap(({ name, secretId }) =>
    secretId === undefined ? [] : [{ field: `a2a.peers.${name}.apiKey`, secretId, without: 'this peer' }],
  );
  return {
    peers: createA2aPeers(configured),
    checkSecrets: (host, operator) => checkSecrets(wanted, host, operator),
  };
}

/** Of a test host: a peer for the workflows of the suite, which name none. */
export function suitePeerOf(
  isTestHost: boolean,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return isTestHost ? env[SUITE_PEER] : undefined;
}

function suiteBlock(url: string): Json {
  if (!URL.canParse(url)) throw unusable('bad_config', `${SUITE_PEER} must be an http or https URL.`);
  return { peers: { suite: { url, binding: 'plain' } } };
}

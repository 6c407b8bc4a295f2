import type { HostOptions } from '@weft/engine';

/** Mocks and probes of a test host. A live one does not load them. */
export async function conformanceFor(isTestHost: boolean): Promise<HostOptions['conformance']> {
  return isTestHost ? (await import('@weft/engine/conformance')).CONFORMANCE : undefined;
}

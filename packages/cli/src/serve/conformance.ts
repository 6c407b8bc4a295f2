import type { HostOptions } from '@weft/engine';

/** Mocks and probes of a test host. A live one does not load them. */
export async function conformanceFor(isTestHost: boolean): Promise<HostOptions['conformance']> {
  if (!isTestHost) return undefined;
  const { CONFORMANCE } = await import('@weft/engine/conformance');
  const { SUITE_NODES } = await import('../packs/suite-nodes.ts');
  return { ...CONFORMANCE, nodes: [...CONFORMANCE.nodes, ...SUITE_NODES] };
}

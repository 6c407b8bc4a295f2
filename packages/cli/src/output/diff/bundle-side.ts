import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { ApiError, type RunDocument, type RunEventDocument } from '@weft/sdk';
import { asCliError, readBundleFile } from '../bundle-file.ts';
import type { LiveSide } from './compare.ts';

/** A run in the form in which it is carried: its snapshot and log with everything masked that must not leave its host. */
export interface BundleSide {
  /** As it was typed. */
  readonly label: string;
  readonly run: RunDocument;
  readonly events: readonly RunEventDocument[];
  /** The log continues where the bundle ends. */
  readonly isPartial: boolean;
  /** Places in which a mark stands for a value. */
  readonly masked: number;
}

export function isBundle(side: LiveSide | BundleSide): side is BundleSide {
  return 'events' in side;
}

/** Reads and checks the bundle; nothing is asked of any host. */
export async function openBundle(cwd: string, file: string): Promise<BundleSide> {
  return await bundleSide(file, await readBundleFile(cwd, file));
}

/** The bundle that its host makes of the run; undefined when the host makes none. */
export async function fetchBundle({ label, client, run }: LiveSide): Promise<BundleSide | undefined> {
  try {
    const bundle = await client.bundles.get(run.runId);
    return await bundleSide(label, bundle as unknown as JsonObject);
  } catch (error) {
    // The run is there, so what is not found is the operation.
    if (error instanceof ApiError && (error.status === 404 || error.status === 501)) return undefined;
    throw error;
  }
}

async function bundleSide(label: string, document: JsonObject): Promise<BundleSide> {
  const { readBundle } = await import('@weft/engine');
  try {
    const { isCut, run, masked } = readBundle(document);
    const slots = Object.values(masked.events).reduce((count, inEvent) => count + inEvent.length, 0);
    const events = Array.isArray(document['events']) ? document['events'] : [];
    return {
      label,
      run: run as unknown as RunDocument,
      events: events.map(toDocument),
      isPartial: isCut,
      masked: masked.inputs.length + masked.configurable.length + slots,
    };
  } catch (cause) {
    throw asCliError(cause, label);
  }
}

/** The event as a host sends it: under the protocol's names alone, so that both sides are written alike. */
function toDocument(entry: Json): RunEventDocument {
  const { seq, data, nodeId, ...rest } = isJsonObject(entry) ? entry : {};
  return {
    ...rest,
    sequence: rest['sequence'] ?? seq,
    payload: rest['payload'] ?? data ?? null,
    ...(nodeId !== null && nodeId !== undefined && { nodeId }),
  } as unknown as RunEventDocument;
}

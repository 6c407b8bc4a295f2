import { endpointOf } from '@weft/protocol/plain';
import type { PageRequest } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export interface ArtifactSummary {
  readonly artifactId: string;
  readonly name: string;
  readonly nodeKey: string;
  readonly mediaType: string;
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly digest: string;
  readonly createdAt: string;
}

/** The bytes of an artifact, not yet read. */
export interface ArtifactContent {
  readonly mediaType: string;
  readonly size: number | undefined;
  readonly digest: string | undefined;
  readonly bytes: ReadableStream<Uint8Array>;
}

/** Artifacts of runs, kept next to their logs. */
export interface Artifacts {
  list(runId: string, page?: PageRequest): PagePromise<ArtifactSummary>;
  open(
    runId: string,
    artifactId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ArtifactContent>;
}

export function createArtifacts(transport: Transport): Artifacts {
  return {
    list: (runId, page) =>
      pagedList(transport, endpointOf('listArtifacts', { runId }), 'artifacts', { ...page }),
    async open(runId, artifactId, { signal } = {}) {
      const response = await transport.open(endpointOf('getArtifact', { runId, artifactId }), {
        headers: { accept: '*/*' },
        signal,
      });
      const { headers } = response;
      return {
        mediaType: headers.get('content-type') ?? 'application/octet-stream',
        size: sizeOf(headers.get('content-length')),
        digest: headers.get('etag')?.replaceAll('"', ''),
        bytes: response.body ?? new Blob([]).stream(),
      };
    },
  };
}

function sizeOf(header: string | null): number | undefined {
  return header === null || !/^\d{1,15}$/.test(header) ? undefined : Number(header);
}

import { renderDiff } from '@weft/engine';
import type { OperationId } from '@weft/protocol';
import type { AppContext } from '../app-context.ts';
import type { Call } from '../call.ts';
import { openArtifact } from '../routes/runs/artifacts.ts';
import { openBundle } from '../routes/runs/debug-bundle.ts';
import { openDiff } from '../routes/runs/diff.ts';
import { collected } from './answers.ts';
import { type Document, tooLarge } from './codec/encode-message.ts';

export interface Collector {
  readonly maxBytes: number;
  /** Given what ends the work when the caller has gone. */
  onClose(end: () => void): void;
}

/** What HTTP sends a piece at a time is one message here: as JSON text, or as what the message holds. */
type Collect = (context: AppContext, call: Call, collector: Collector) => Promise<string | Document>;

export const DOWNLOADS: Partial<Record<OperationId, Collect>> = {
  async diffRun(context, call, { maxBytes, onClose }) {
    const { diff, stream } = await openDiff(context, call, onClose);
    try {
      return await collected(renderDiff(diff), maxBytes);
    } finally {
      stream.end();
    }
  },
  async getDebugBundle(context, call, { maxBytes, onClose }) {
    const { text, download } = await openBundle(context, call);
    onClose(download.end);
    try {
      return await collected(text, maxBytes);
    } finally {
      download.end();
    }
  },
  async getArtifact(context, call, { maxBytes }) {
    const { mediaType, name, size, digest, read } = await openArtifact(context, call);
    if (size > maxBytes) throw tooLarge(maxBytes);
    const content: Uint8Array[] = [];
    for await (const piece of read()) content.push(piece);
    return { mediaType, name, size, digest, content: Buffer.concat(content) };
  },
};

import { createHash } from 'node:crypto';

export interface TarEntry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  readonly type?: string;
  readonly size?: number;
  /** Changes the header before its checksum is made. */
  readonly edit?: (header: Buffer) => void;
}

/** A tar as the runner writes it: GNU magic, type NUL, no times. */
export function tarOf(entries: readonly TarEntry[], end = 1024): Buffer {
  const blocks = entries.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? '');
    return [headerOf(entry, data.length), data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(end)]);
}

function headerOf(entry: TarEntry, length: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(entry.name.slice(0, 100), 0);
  header.write('0000644\0', 100);
  header.write(`${(entry.size ?? length).toString(8).padStart(11, '0')}\0`, 124);
  header.write(entry.type ?? '\0', 156);
  header.write('ustar  \0', 257);
  entry.edit?.(header);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(7, '0')}\0`, 148);
  return header;
}

/** The members of an archive of these files, manifest first. */
export function entriesOf(files: Readonly<Record<string, string | Uint8Array>>, runId = 'run_1'): TarEntry[] {
  const listed = Object.fromEntries(
    Object.entries(files).map(([path, content]) => {
      const sha256 = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      return [path, { path, sha256, bytes: Buffer.byteLength(content) }];
    }),
  );
  const manifest = JSON.stringify({
    schema: 'assay.runner.archive_manifest.v0',
    run_id: runId,
    files: listed,
  });
  return [
    { name: 'manifest.json', data: manifest },
    ...Object.entries(files).map(([name, data]) => ({ name, data })),
  ];
}

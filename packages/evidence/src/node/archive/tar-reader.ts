/**
 * Reads a tar as its bytes arrive. Nothing is written anywhere; the bytes of a member go to a sink.
 *
 * Invariants
 * 1. Only regular files and directories pass; links, devices and anything unknown refuse the archive.
 * 2. A name is relative, has no `..`, and occurs once.
 * 3. A size is held against the limits before a sink is opened for it.
 * 4. The archive ends with two zero blocks; behind them only zeros.
 */
import { ArchiveError } from './archive-error.ts';
import { safeName } from './member-name.ts';
import { readExtendedName } from './tar-extension.ts';
import { BLOCK, isZeroBlock, readTarHeader, type TarHeader } from './tar-header.ts';

export interface MemberSink {
  write(chunk: Uint8Array): void;
  end(): void;
}

/** What a tar may hold; each is checked before memory is taken for it. */
export interface TarRules {
  /** Bytes of the whole tar. */
  readonly inflated: number;
  readonly members: number;
  /** Bytes of the member of this name. */
  readonly file: (name: string) => number;
  /** The member whose name must stand in its header: others list what is in the archive by it. */
  readonly manifest: string;
  readonly isLenient: boolean;
}

export interface TarEvents {
  /** A regular file begins. */
  member(name: string, size: number): MemberSink;
  /** Something that only `lenient` lets pass. */
  tolerated(place: string, found: string): void;
}

export interface TarReader {
  write(chunk: Uint8Array): void;
  /** Both zero blocks were seen. */
  isComplete(): boolean;
  end(): void;
}

const MAX_EXTENSION = 64 * 1024;
const REFUSED_TYPES: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a pipe',
  K: 'a long link name',
  S: 'a sparse file',
  g: 'a global extension header',
};

export function tarReader(rules: TarRules, events: TarEvents): TarReader {
  const { isLenient } = rules;
  const block = new Uint8Array(BLOCK);
  let filled = 0;
  let position = 0; // of the next byte in the tar
  let left = 0; // bytes of the member's content
  let padding = 0;
  let sink: MemberSink | undefined;
  let extension: { readonly type: string; readonly bytes: Uint8Array; filled: number } | undefined;
  let longName: string | undefined;
  let zeroBlocks = 0;
  let hasTolerated = false;
  const names = new Set<string>();

  function place(): string {
    return `byte ${position - BLOCK} of the tar`;
  }

  function header(): void {
    if (isZeroBlock(block)) {
      zeroBlocks += 1;
      return;
    }
    if (zeroBlocks > 0)
      throw new ArchiveError('tar_end', place(), 'a lone zero block', 'two at the end, none before');
    const found = readTarHeader(block, place());
    if (found.type === 'L' || found.type === 'x') return beginExtension(found);
    const wasLong = longName !== undefined;
    const written = longName ?? found.name;
    longName = undefined;
    if (found.type === '5') return directory(written, found.size);
    if (found.type !== '0') {
      const kind = REFUSED_TYPES[found.type] ?? `an entry of type ${JSON.stringify(found.type)}`;
      throw new ArchiveError('tar_type', written, kind, 'regular files and directories only');
    }
    beginFile(safeName(written, isLenient, tolerate), found.size, wasLong);
  }

  function tolerate(name: string, found: string): void {
    if (!hasTolerated) events.tolerated(name, found);
    hasTolerated = true;
  }

  function beginExtension(found: TarHeader): void {
    if (extension !== undefined || longName !== undefined)
      throw new ArchiveError('tar_extension', place(), 'two name extensions in a row', 'one at most');
    if (found.size > MAX_EXTENSION)
      throw new ArchiveError(
        'tar_extension',
        place(),
        `an extension of ${found.size} bytes`,
        `${MAX_EXTENSION} at most`,
      );
    extension = { type: found.type, bytes: new Uint8Array(found.size), filled: 0 };
    content(found.size);
  }

  function directory(name: string, size: number): void {
    safeName(name.replace(/\/+$/, ''), isLenient, tolerate);
    if (size !== 0) throw new ArchiveError('tar_type', name, 'a directory with content', 'none');
  }

  function beginFile(name: string, size: number, wasLong: boolean): void {
    if (names.has(name))
      throw new ArchiveError('tar_duplicate', name, 'the same name twice', 'each name once');
    names.add(name);
    if (wasLong && name === rules.manifest)
      throw new ArchiveError(
        'tar_extension',
        name,
        'a name extension',
        'a plain header: the manifest lists no manifest',
      );
    if (names.size > rules.members)
      throw new ArchiveError('limit', name, `more than ${rules.members} members`, 'fewer');
    const limit = rules.file(name);
    if (size > limit)
      throw new ArchiveError('limit', name, `a declared size of ${size} bytes`, `${limit} at most`);
    if (position + size > rules.inflated)
      throw new ArchiveError(
        'limit',
        name,
        `a declared size of ${size} bytes`,
        `${rules.inflated} for the whole archive`,
      );
    sink = events.member(name, size);
    content(size);
  }

  function content(size: number): void {
    left = size;
    padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (size === 0) contentEnded();
  }

  function contentEnded(): void {
    if (extension !== undefined) longName = readExtendedName(extension.type, extension.bytes, place());
    extension = undefined;
    sink?.end();
    sink = undefined;
  }

  function take(chunk: Uint8Array): void {
    if (extension !== undefined) {
      extension.bytes.set(chunk, extension.filled);
      extension.filled += chunk.length;
    } else sink?.write(chunk);
    left -= chunk.length;
    position += chunk.length;
    if (left === 0) contentEnded();
  }

  function afterEnd(chunk: Uint8Array): void {
    const at = chunk.findIndex((byte) => byte !== 0);
    if (at === -1) return;
    if (!isLenient) throw trailing(`byte ${position + at} of the tar`);
    tolerate('the archive', 'bytes behind the end of the tar');
  }

  return {
    write(chunk) {
      let at = 0;
      while (at < chunk.length) {
        const rest = chunk.length - at;
        if (zeroBlocks === 2) return afterEnd(chunk.subarray(at));
        if (left > 0) {
          const size = Math.min(left, rest);
          take(chunk.subarray(at, at + size));
          at += size;
        } else if (padding > 0) {
          const size = Math.min(padding, rest);
          padding -= size;
          position += size;
          at += size;
        } else {
          const size = Math.min(BLOCK - filled, rest);
          block.set(chunk.subarray(at, at + size), filled);
          filled += size;
          position += size;
          at += size;
          if (filled < BLOCK) continue;
          filled = 0;
          header();
        }
      }
    },
    isComplete: () => zeroBlocks === 2,
    end() {
      if (zeroBlocks < 2)
        throw new ArchiveError(
          'tar_truncated',
          `byte ${position} of the tar`,
          'the end of the data',
          'two zero blocks',
        );
    },
  };
}

export function trailing(place: string): ArchiveError {
  return new ArchiveError(
    'trailing_bytes',
    place,
    'bytes behind the end of the archive',
    'none (--lenient accepts them)',
  );
}

import type { StoredAuditEntry } from '../../ports/store.ts';
import { absentHash, entryHash } from './entry.ts';

/**
 * Goes along a batch of the chain and along the entries, both in order, and names every place where they do not fit.
 *
 * An entry carries the hash of the one before it, so a changed entry shows at its successor: `atSeq` is the sequence whose
 * previous hash is wrong, one after the entry that was touched. After a break the walk continues from the recorded hash, so one
 * change is one anomaly and does not hide the next.
 */
export interface Anomaly {
  readonly atSeq: number;
  /** What the entries give now. */
  readonly expectedPrevHash: string;
  /** What was recorded when they were linked; empty when there is no record. */
  readonly actualPrevHash: string;
}

/** A place of the chain; without id and hash where its record is lost. */
export interface Place {
  readonly seq: number;
  readonly id?: number;
  readonly hash?: string;
}

export interface ChainWalk {
  /** The next entry of the log, by id. */
  entry(entry: StoredAuditEntry): void;
  /** No more entries; returns the hash the batch ends with. */
  end(): string | null;
  /** Entries behind the last place. */
  unlinked(): number;
}

export function createChainWalk(
  places: readonly Place[],
  startHash: string | null,
  onAnomaly: (anomaly: Anomaly) => void,
): ChainWalk {
  let at = 0;
  let prevHash = startHash;
  let unlinked = 0;

  function close(place: Place, computed: string): void {
    if (computed !== place.hash) {
      onAnomaly({ atSeq: place.seq + 1, expectedPrevHash: computed, actualPrevHash: place.hash ?? '' });
    }
    prevHash = place.hash ?? computed;
    at += 1;
  }

  return {
    entry(entry) {
      let place = places[at];
      while (place?.id !== undefined && place.id < entry.id) {
        close(place, absentHash(place.seq, prevHash));
        place = places[at];
      }
      if (place === undefined) {
        unlinked += 1;
      } else if (place.id === undefined || place.id === entry.id) {
        close(place, entryHash(place.seq, entry, prevHash));
      } else {
        // It stands before an entry that was linked without it.
        const expectedPrevHash = entryHash(place.seq, entry, prevHash);
        onAnomaly({ atSeq: place.seq, expectedPrevHash, actualPrevHash: prevHash ?? '' });
      }
    },
    end() {
      for (let place = places[at]; place !== undefined; place = places[at]) {
        close(place, absentHash(place.seq, prevHash));
      }
      return prevHash;
    },
    unlinked: () => unlinked,
  };
}

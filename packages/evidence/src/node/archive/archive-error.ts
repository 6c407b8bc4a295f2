/** An archive that is refused as a whole: from here on its bytes mean nothing. */
export class ArchiveError extends Error {
  readonly code: string;
  /** The member it is about, or where in the stream. */
  readonly place: string;
  readonly needed: string;

  constructor(code: string, place: string, found: string, needed: string) {
    super(found);
    this.name = 'ArchiveError';
    this.code = code;
    this.place = place;
    this.needed = needed;
  }
}

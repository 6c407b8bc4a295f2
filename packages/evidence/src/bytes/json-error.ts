/** Bytes that are not JSON, and where. */
export class JsonError extends Error {
  /** Byte of the file, counted from 0. */
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.name = 'JsonError';
    this.offset = offset;
  }
}

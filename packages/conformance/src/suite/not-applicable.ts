/** Thrown by a check that finds out, while it runs, that what it looks at is optional and not there. */
export class NotApplicable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotApplicable';
  }
}

/** Event ids are not stored: run and sequence already name an event uniquely. */
export function eventId(runId: string, seq: number): string {
  return `${runId}-${seq}`;
}

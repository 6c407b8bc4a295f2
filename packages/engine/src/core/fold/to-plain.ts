/** Payloads of imported logs are as another host wrote them, whatever their type promises: a text is made a text, a number a number. */

export function toText(value: unknown): string {
  return String(value);
}

export function toNumber(value: unknown): number {
  return Number(value);
}

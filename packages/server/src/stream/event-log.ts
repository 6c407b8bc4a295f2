import type { EventPage } from '@weft/engine';

/** The answer of polls and of JSON readers: wire documents joined as they are, never parsed and written again. */
export function renderPage(runId: string, page: EventPage): string {
  const documents = page.events.map((event) => event.document).join(',');
  return openLog(runId) + documents + closeLog(page, lastSeq(page));
}

export function openLog(runId: string): string {
  return `{"runId":${JSON.stringify(runId)},"events":[`;
}

export function closeLog(page: EventPage, lastEventSeq: number): string {
  const { complete, status } = page;
  return `],"isComplete":${complete},"lastEventSeq":${lastEventSeq},"runStatus":"${status}","isTerminal":${complete}}`;
}

/** Where the next request continues: the last event of the page, or the end of the log when there was nothing new. */
export function lastSeq(page: EventPage): number {
  return page.events.at(-1)?.seq ?? page.nextSeq - 1;
}

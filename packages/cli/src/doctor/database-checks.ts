import type { DatabaseReport } from '@weft/storage';
import type { Finding } from './doctor-checks.ts';
import { shownUrl } from '../serve/store/postgres-url.ts';
import type { PostgresSettings } from '../serve/settings/settings.ts';

const MAX_SKEW_MS = 5_000;
const SHOWN_PROBLEMS = 20;
/** Beyond this share, the next process to start may find no connection. */
const CROWDED = 0.8;

/** Whether the database answers, can be used, and holds what it should. */
export async function checkDatabase(settings: PostgresSettings, deep: boolean): Promise<readonly Finding[]> {
  const { checkPostgres, reasonNotOpened } = await import('@weft/storage');
  const place = shownUrl(settings.url);
  let report: DatabaseReport;
  try {
    report = await checkPostgres({ url: settings.url, schema: settings.schema, deep });
  } catch (error) {
    return [
      {
        check: 'database',
        state: 'wrong',
        text: `${place} cannot be used`,
        advice: reasonNotOpened(error),
      },
    ];
  }
  return [
    schemaFinding(place, settings.schema, report),
    clockFinding(report),
    connectionsFinding(report, settings),
    ...(deep ? [deepFinding(report)] : []),
  ];
}

function schemaFinding(place: string, schema: string, report: DatabaseReport): Finding {
  const { schemaVersion, supportedVersion, serverVersion, answeredInMs } = report;
  const text = `${place}, PostgreSQL ${serverVersion}, answers in ${answeredInMs} ms`;
  if (schemaVersion === supportedVersion)
    return { check: 'database', state: 'ok', text: `${text}, schema ${schema} at version ${schemaVersion}` };
  return {
    check: 'database',
    state: 'warning',
    text:
      schemaVersion === 0
        ? `${text}, without schema ${schema}`
        : `${text}, schema ${schema} at version ${schemaVersion} of ${supportedVersion}`,
    advice: 'The next host that starts brings it up to date.',
  };
}

function clockFinding({ clockAheadMs }: DatabaseReport): Finding {
  const check = 'database clock';
  if (Math.abs(clockAheadMs) <= MAX_SKEW_MS)
    return { check, state: 'ok', text: 'this machine and the database agree' };
  const seconds = Math.round(Math.abs(clockAheadMs) / 1_000);
  return {
    check,
    state: 'wrong',
    text: `the database is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine`,
    advice: 'Set the clocks by NTP: timers go by the database, times of events by the host.',
  };
}

function connectionsFinding(
  { connections: { used, max } }: DatabaseReport,
  settings: PostgresSettings,
): Finding {
  const check = 'database connections';
  const text = `${used} of ${max} are taken; a host takes up to ${settings.connections + 1}`;
  if (used <= max * CROWDED) return { check, state: 'ok', text };
  return {
    check,
    state: 'warning',
    text,
    advice: 'Raise max_connections, or lower the host’s store-connections.',
  };
}

function deepFinding({ problems }: DatabaseReport): Finding {
  const check = 'database, deep';
  if (problems.length === 0) return { check, state: 'ok', text: 'every log is in order' };
  const shown = problems.slice(0, SHOWN_PROBLEMS);
  const more = problems.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return { check, state: 'wrong', text, advice: 'Restore the database from a backup.' };
}

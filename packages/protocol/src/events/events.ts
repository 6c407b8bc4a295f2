import { type Static, Type } from 'typebox';
import { EVENT_TYPES, VENDOR_TYPE_PATTERN } from './event-catalogue.ts';
import { anyJson, count, dateTime, nonEmpty, open, runId } from '../documents/schema-parts.ts';

const identifier = Type.String({ minLength: 1, maxLength: 128 });

/** An event as it stands on every wire. Open: readers ignore members they do not know. */
export const RunEventDocSchema = open({
  eventId: identifier,
  runId,
  type: Type.Union([
    Type.Unsafe<string>({ type: 'string', enum: [...EVENT_TYPES] }),
    Type.String({ pattern: VENDOR_TYPE_PATTERN }),
  ]),
  payload: anyJson,
  timestamp: dateTime,
  sequence: Type.Integer({ minimum: 0, description: 'Counts from 0 without gaps, per run.' }),
  nodeId: Type.Optional(identifier),
  schemaVersion: Type.Optional(count),
  engineVersion: Type.Optional(nonEmpty),
  causationId: Type.Optional(identifier),
});

export type RunEventDoc = Static<typeof RunEventDocSchema>;

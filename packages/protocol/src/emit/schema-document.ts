import { WEFT_EVENTS } from '../events/catalogue/weft.ts';
import { EVENT_CATALOGUE } from '../events/event-catalogue.ts';
import type { JsonObject } from '../json/json.ts';
import { createBundle } from './bundle.ts';
import { componentName, NAMED_SCHEMAS } from './named-schemas.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const PAYLOADS = 'run-event-payloads';

/** The names of all schemas that can be had as documents. */
export const SCHEMA_NAMES: readonly string[] = [...Object.keys(NAMED_SCHEMAS), PAYLOADS].toSorted();

/** A schema as a document of its own, with all that it refers to; undefined for a name that there is not. */
export function schemaDocument(name: string): JsonObject | undefined {
  if (!SCHEMA_NAMES.includes(name)) return undefined;
  const bundle = createBundle('#/$defs/');
  const title = componentName(name);
  if (name === PAYLOADS) {
    const payloads = [...EVENT_CATALOGUE, ...WEFT_EVENTS].map(({ type, payload }) => [
      type,
      bundle.body(payload),
    ]);
    const description = 'The payload of each event, by the type of the event.';
    return {
      $schema: DIALECT,
      title,
      description,
      $defs: { ...(Object.fromEntries(payloads) as JsonObject), ...bundle.components() },
    };
  }
  const body = bundle.body(NAMED_SCHEMAS[name as keyof typeof NAMED_SCHEMAS]);
  const $defs = bundle.components();
  return { $schema: DIALECT, title, ...body, ...(Object.keys($defs).length === 0 ? {} : { $defs }) };
}

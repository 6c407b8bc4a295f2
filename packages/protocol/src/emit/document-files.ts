import type { JsonObject } from '../json/json.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { openApiDocument } from './openapi.ts';
import { protoDocument } from './proto.ts';
import { SCHEMA_NAMES, schemaDocument } from './schema-document.ts';

export interface DocumentFile {
  /** Path inside the package's folder `documents`. */
  readonly file: string;
  readonly text: string;
}

/** The documents that hosts serve, as files for programs that have no host to ask. */
export function documentFiles(): readonly DocumentFile[] {
  const documents: readonly (readonly [string, JsonObject])[] = [
    ['openapi.json', openApiDocument()],
    ['asyncapi.json', asyncApiDocument()],
    ...SCHEMA_NAMES.map((name) => [`schemas/${name}.json`, schemaDocument(name) ?? {}] as const),
  ];
  return [
    ...documents.map(([file, document]) => ({ file, text: `${JSON.stringify(document, undefined, 1)}\n` })),
    { file: 'openwop.proto', text: protoDocument() },
  ];
}

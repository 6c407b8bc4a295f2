import {
  camelCase,
  type FieldShape,
  grpcService,
  type MessageShape,
  type MethodShape,
} from '../grpc/message-shapes.ts';
import { GRPC_PACKAGE } from '../grpc/methods.ts';
import { operationOf } from '../routes/routes.ts';

/** The gRPC service as a .proto file. Complete in itself, but for the well-known types that every compiler brings along. */
export function protoDocument(): string {
  const { methods, messages } = grpcService();
  return [
    '// OpenWOP v1 over gRPC. Generated from the schemas of the JSON documents, which it mirrors field by field.\n',
    'syntax = "proto3";\n',
    `package ${GRPC_PACKAGE};\n`,
    'import "google/protobuf/empty.proto";\nimport "google/protobuf/struct.proto";\n',
    serviceText(methods),
    ...[...messages.values()].map(messageText),
  ].join('\n');
}

function serviceText(methods: readonly MethodShape[]): string {
  const rows = methods.map(({ name, route, method, request, response }) => {
    const answer = `${method.isStream === true ? 'stream ' : ''}${response?.name ?? 'google.protobuf.Empty'}`;
    const said =
      comment(route.summary, '  ') + comment(`${scopeText(route)} REST: ${operationOf(route)}`, '  ');
    return `${said}  rpc ${name}(${request.name}) returns (${answer});\n`;
  });
  return `service Engine {\n${rows.join('\n')}}\n`;
}

function scopeText({ scope, alsoScope }: MethodShape['route']): string {
  if (scope === null) return 'Needs no key.';
  return `Scope: ${alsoScope === undefined ? scope : `${scope} and ${alsoScope}`}.`;
}

function messageText({ name, fields, extras, reserved }: MessageShape): string {
  const all = extras === undefined ? fields : [...fields, extras];
  const gone =
    reserved.length === 0
      ? ''
      : `  reserved ${reserved.map(([, number]) => number).join(', ')};\n  reserved ${reserved.map(([field]) => `"${field}"`).join(', ')};\n`;
  const plain = all.filter(({ oneof }) => oneof === undefined).map((field) => fieldText(field, '  '));
  return `message ${name} {\n${gone}${plain.join('')}${oneofText(all)}}\n`;
}

function oneofText(fields: readonly FieldShape[]): string {
  const members = fields.filter(({ oneof }) => oneof !== undefined);
  const [first] = members;
  if (first?.oneof === undefined) return '';
  return `  oneof ${first.oneof} {\n${members.map((field) => fieldText(field, '    ')).join('')}  }\n`;
}

const TYPES = { struct: 'google.protobuf.Struct', value: 'google.protobuf.Value' } as const;

function fieldText(field: FieldShape, indent: string): string {
  const { name, jsonName, number, kind, message, isRepeated, isOptional, oneof, place, description } = field;
  const label = isRepeated ? 'repeated ' : isOptional && oneof === undefined ? 'optional ' : '';
  const type = kind === 'message' ? message : kind === 'struct' || kind === 'value' ? TYPES[kind] : kind;
  // In the places of HTTP other names may be usual; in documents the name is the document's.
  const isDocumented = jsonName !== '' && (place === undefined || place === 'body');
  const json = isDocumented && camelCase(name) !== jsonName ? ` [json_name = "${jsonName}"]` : '';
  const said = description === undefined ? '' : comment(description, indent);
  return `${said}${indent}${label}${type} ${name} = ${number}${json};\n`;
}

const WIDTH = 110;

function comment(text: string, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent.length + line.length + word.length > WIDTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line].map((each) => `${indent}// ${each}\n`).join('');
}

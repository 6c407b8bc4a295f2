import { describe, expect, it } from 'vitest';
import { grpcService } from '../grpc/message-shapes.ts';
import { protoDocument } from './proto.ts';

/** The methods of the protocol, and the two that this host adds. */
const METHODS = [
  'GetCapabilities',
  'GetWorkflow',
  'CreateRun',
  'GetRun',
  'StreamRunEvents',
  'CancelRun',
  'BulkCancelRuns',
  'PauseRun',
  'ResumeRun',
  'ForkRun',
  'ResolveInterruptByRun',
  'ResolveInterruptByToken',
  'InspectInterruptByToken',
  'GetArtifact',
  'RegisterWebhook',
  'UnregisterWebhook',
  'VerifyAuditLog',
  'DiffRun',
  'GetDebugBundle',
];

const text = protoDocument();

function messageText(name: string): string {
  return new RegExp(`message ${name} \\{\\n([^}]*)\\}`).exec(text)?.[1] ?? '';
}

describe('the .proto file', () => {
  it('has the service of the protocol with its methods', () => {
    expect(text).toContain('package openwop.v1;');
    expect(text).toContain('service Engine {');
    expect([...text.matchAll(/ rpc (\w+)\(/g)].map(([, name]) => name)).toEqual(METHODS);
    expect([...text.matchAll(/returns \(stream (\w+)\)/g)]).toHaveLength(1);
    expect(text).toContain(
      'rpc UnregisterWebhook(UnregisterWebhookRequest) returns (google.protobuf.Empty);',
    );
  });

  it('has the request for a stream as the protocol numbers it, with an unset last sequence', () => {
    const fields = messageText('StreamRunEventsRequest')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.endsWith(';'));

    expect(fields).toEqual([
      'string run_id = 1;',
      'optional int64 last_sequence = 2;',
      'repeated string stream_modes = 3;',
      'int32 buffer_ms = 4;',
    ]);
  });

  it('has bags as structs, anything as values, and what a schema does not list apart', () => {
    const request = messageText('CreateRunRequest');

    for (const bag of ['inputs', 'configurable', 'metadata'])
      expect(request).toMatch(new RegExp(`  google\\.protobuf\\.Struct ${bag} = \\d+;`));
    expect(request).not.toContain('additional_properties');
    expect(messageText('ResolveInterruptByRunRequest')).toMatch(
      /google\.protobuf\.Value resume_value = \d+;/,
    );
    expect(messageText('RunSnapshot')).toContain('google.protobuf.Struct additional_properties = 1000;');
    expect(messageText('RunDiffResponse')).not.toContain('additional_properties');
  });

  it('says where a null is a field that is not set, and how a member is called that protobuf would call otherwise', () => {
    expect(messageText('RunDiffResponse')).toMatch(
      /equal\. Unset: null\.\n {2}optional int64 diverged_at_seq/,
    );
    expect(text).toMatch(/duration_ms = \d+ \[json_name = "duration_ms"\];/);
  });

  it('gives no two fields of a message one number or one name', () => {
    for (const { name, fields, extras } of grpcService().messages.values()) {
      const all = extras === undefined ? fields : [...fields, extras];
      for (const key of ['name', 'number', 'jsonName'] as const)
        expect([name, new Set(all.map((field) => field[key])).size]).toEqual([name, all.length]);
    }
  });
});

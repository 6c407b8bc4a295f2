/**
 * Starts a run over gRPC, prints its events until it ends, and then how it ended. Nothing of Weft is needed: the service comes from
 * the .proto file that the host publishes.
 *
 *   node examples/grpc/follow-run.mjs order-fulfilment '{"quantity": 2}'
 *
 * WEFT_URL is where the host serves HTTP (default: http://127.0.0.1:7878), WEFT_API_KEY its key (default: the file .weft/key).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const [workflowId = 'order-fulfilment', inputs = '{}'] = process.argv.slice(2);
const url = process.env.WEFT_URL ?? 'http://127.0.0.1:7878';
const key = process.env.WEFT_API_KEY ?? readFileSync('.weft/key', 'utf8').trim();

// Where gRPC is, and what it looks like: both need no key.
const { grpc } = await (await fetch(`${url}/.well-known/openwop`)).json();
if (grpc?.supported !== true) throw new Error('This host serves no gRPC: start it with --grpc-port.');
const folder = mkdtempSync(join(tmpdir(), 'openwop-'));
const file = join(folder, 'openwop.proto');
writeFileSync(file, await (await fetch(`${url}/v1/openwop.proto`)).text());
const { openwop } = loadPackageDefinition(loadSync(file, { keepCase: true, longs: Number, defaults: true }));
rmSync(folder, { recursive: true });

const engine = new openwop.v1.Engine(new URL(grpc.endpoint).host, credentials.createInsecure());
const metadata = new Metadata();
metadata.set('authorization', `Bearer ${key}`);

const { run_id } = await call('CreateRun', { workflow_id: workflowId, inputs: struct(JSON.parse(inputs)) });
await follow(run_id);
const { status: ended, error } = await call('GetRun', { run_id });
print(`Run ${run_id} ${ended}${error === null ? '' : `: ${error.message}`}`);
engine.close();

/** One message there, one back, within ten seconds. */
function call(method, message) {
  return new Promise((resolve, reject) => {
    engine[method](message, metadata, { deadline: Date.now() + 10_000 }, (failure, answer) =>
      failure === null ? resolve(answer) : reject(failure),
    );
  });
}

/** Prints events as they come. A stream that breaks off is continued after the last one that was seen. */
async function follow(runId, lastSequence = -1) {
  let last = lastSequence;
  const stream = engine.StreamRunEvents(
    { run_id: runId, last_sequence: last, stream_modes: ['debug'] },
    metadata,
  );
  try {
    for await (const { sequence, event, run_event } of stream) {
      last = sequence;
      print(`${String(sequence).padStart(5)}  ${event.padEnd(18)} ${run_event?.node_id ?? ''}`);
    }
  } catch (failure) {
    if (failure.code !== status.UNAVAILABLE) throw failure;
    await follow(runId, last);
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

/** JSON as a google.protobuf.Struct. */
function struct(members) {
  return { fields: Object.fromEntries(Object.entries(members).map(([name, json]) => [name, value(json)])) };
}

function value(json) {
  if (json === null) return { nullValue: 'NULL_VALUE' };
  if (Array.isArray(json)) return { listValue: { values: json.map(value) } };
  if (typeof json === 'object') return { structValue: struct(json) };
  return { [`${typeof json === 'boolean' ? 'bool' : typeof json}Value`]: json };
}

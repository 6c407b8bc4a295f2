import { GRPC_TRANSPORT } from '../testing/grpc-transport.ts';
import { askOver } from '../testing/transport-under-test.ts';

/** The tests of the fixtures again, over gRPC. */
askOver(GRPC_TRANSPORT);

await import('./fixtures.int.test.ts');
await import('./agent-fixtures.int.test.ts');

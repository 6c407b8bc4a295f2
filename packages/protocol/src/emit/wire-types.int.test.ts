import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as bySchema from '../index.ts';
import type * as written from '../plain.ts';
import { renderWireTypes } from './wire-types.ts';

const file = new URL('../wire-types.ts', import.meta.url);

describe('the types that are written out', () => {
  it('stand in src/wire-types.ts as the schemas give them (UPDATE_DOCS=1 rewrites it)', () => {
    if (process.env.UPDATE_DOCS === '1') writeFileSync(file, renderWireTypes());

    expect(readFileSync(file, 'utf8')).toBe(renderWireTypes());
  });

  it('are those of the schemas', () => {
    expectTypeOf<written.Ancestry>().toEqualTypeOf<bySchema.Ancestry>();
    expectTypeOf<written.Annotation>().toEqualTypeOf<bySchema.Annotation>();
    expectTypeOf<written.AnnotationCreate>().toEqualTypeOf<bySchema.AnnotationCreate>();
    expectTypeOf<written.AuditVerificationDocument>().toEqualTypeOf<bySchema.AuditVerificationDocument>();
    expectTypeOf<written.ClusterNodeDocument>().toEqualTypeOf<bySchema.ClusterNodeDocument>();
    expectTypeOf<written.DeadDelivery>().toEqualTypeOf<bySchema.DeadDelivery>();
    expectTypeOf<written.DebugBundle>().toEqualTypeOf<bySchema.DebugBundle>();
    expectTypeOf<written.ForkRunResponse>().toEqualTypeOf<bySchema.ForkRunResponse>();
    expectTypeOf<written.NodeTypeDocument>().toEqualTypeOf<bySchema.NodeTypeDocument>();
    expectTypeOf<written.RegisteredWorker>().toEqualTypeOf<bySchema.RegisteredWorker>();
    expectTypeOf<written.RegisterWorkerRequest>().toEqualTypeOf<bySchema.RegisterWorkerRequest>();
    expectTypeOf<written.TaskError>().toEqualTypeOf<bySchema.TaskError>();
    expectTypeOf<written.TaskReceipt>().toEqualTypeOf<bySchema.TaskReceipt>();
    expectTypeOf<written.TaskReport>().toEqualTypeOf<bySchema.TaskReport>();
    expectTypeOf<written.WorkerMessage>().toEqualTypeOf<bySchema.WorkerMessage>();
    expectTypeOf<written.RunOptions>().toEqualTypeOf<bySchema.RunOptions>();
    expectTypeOf<written.RunSnapshot>().toEqualTypeOf<bySchema.RunSnapshot>();
    expectTypeOf<written.RunSummary>().toEqualTypeOf<bySchema.RunSummary>();
    expectTypeOf<written.WorkflowDefinition>().toEqualTypeOf<bySchema.WorkflowDefinition>();
    // Its ranges of options are open, which the type of the schema says and the written one leaves out.
    expectTypeOf<bySchema.Capabilities>().toExtend<written.Capabilities>();
  });

  it('have the payload of every event', () => {
    type Written = Omit<written.EventPayloads, 'run.resumed'>;

    expectTypeOf<Written>().toEqualTypeOf<Omit<bySchema.DocumentedPayloads, 'run.resumed'>>();
    // Without members, the type of a schema is any object at all.
    expectTypeOf<written.EventPayloads['run.resumed']>().toEqualTypeOf<written.JsonObject>();
  });
});

import { describe, expect, it } from 'vitest';
import { renderPrometheus } from './prometheus.ts';
import { createRegistry } from './registry.ts';
import { createRunMetrics, type RunObserver } from './run-metrics.ts';
import { sampleEvents, sampleRecord } from './sample-record.ts';

/** Lines of the text that begin with this name. */
function counted(report: (observe: RunObserver) => void): (name: string) => string[] {
  const registry = createRegistry();
  report(createRunMetrics(registry));
  const lines = renderPrometheus(registry.read()).split('\n');
  return (name) => lines.filter((line) => line.startsWith(name));
}

const record = sampleRecord();

describe('metrics of runs', () => {
  it('count and time a run that is over in one write', () => {
    const lines = counted((observe) =>
      observe(
        record,
        sampleEvents(
          ['run.started', 1_000],
          ['node.started', 1_000, { nodeId: 'a', typeId: 'core.noop', attempt: 0 }],
          ['node.completed', 1_003, { nodeId: 'a', outputs: { typeId: 'not this one' } }],
          ['run.completed', 1_700],
        ),
        true,
      ),
    );

    expect(lines('openwop_run_created')).toEqual([
      'openwop_run_created_total{workflow_id="orders",tenant_id="all"} 1',
    ]);
    expect(lines('openwop_run_completed')).toEqual([
      'openwop_run_completed_total{run_status="completed",workflow_id="orders"} 1',
    ]);
    expect(lines('openwop_run_duration_seconds_sum')).toEqual([
      'openwop_run_duration_seconds_sum{run_status="completed",workflow_id="orders"} 0.7',
    ]);
    expect(lines('openwop_node_completed')).toEqual([
      'openwop_node_completed_total{node_type="core.noop",run_status="completed"} 1',
    ]);
    expect(lines('openwop_node_duration_seconds_sum')).toEqual([
      'openwop_node_duration_seconds_sum{node_type="core.noop",run_status="completed"} 0.003',
    ]);
  });

  it('time every attempt, over several writes and inside loops', () => {
    const call = { nodeId: 'call', iteration: [1] };
    const lines = counted((observe) => {
      observe(record, sampleEvents(['run.started', 1_000]), true);
      observe(
        record,
        sampleEvents(
          ['node.started', 2_000, { ...call, typeId: 'core.http.request' }],
          ['node.started', 2_000, { nodeId: 'call', iteration: [2], typeId: 'core.http.request' }],
        ),
        false,
      );
      observe(record, sampleEvents(['node.retried', 3_000, { ...call, attempt: 1 }]), false);
      observe(record, sampleEvents(['node.started', 4_000, { ...call, typeId: 'core.http.request' }]), false);
      observe(record, sampleEvents(['node.completed', 4_500, { ...call, outputs: {} }]), false);
    });

    expect(lines('openwop_node_attempts')).toEqual([
      'openwop_node_attempts_total{node_type="core.http.request"} 1',
    ]);
    expect(lines('openwop_node_duration_seconds_sum')).toEqual([
      'openwop_node_duration_seconds_sum{node_type="core.http.request",run_status="failed"} 1',
      'openwop_node_duration_seconds_sum{node_type="core.http.request",run_status="completed"} 0.5',
    ]);
    expect(lines('openwop_activity_invocations')).toEqual([
      'openwop_activity_invocations_total{provider="http",run_status="error"} 1',
      'openwop_activity_invocations_total{provider="http",run_status="success"} 1',
    ]);
  });

  it('count questions, answers, model tokens, decisions and caps', () => {
    const gate = { nodeId: 'gate' };
    const lines = counted((observe) =>
      observe(
        record,
        sampleEvents(
          ['node.started', 0, { ...gate, typeId: 'core.approvalGate' }],
          ['interrupt.requested', 0, { ...gate, kind: 'approval', data: {} }],
          ['interrupt.resolved', 90_000, { ...gate, kind: 'approval', resumeValue: {} }],
          ['provider.usage', 1, { ...gate, provider: 'mock', inputTokens: 3, outputTokens: 5 }],
          ['runOrchestrator.decided', 1, { decision: { kind: 'terminate' } }],
          ['cap.breached', 1, { kind: 'node-executions', limit: 1, observed: 2 }],
          ['run.failed', 2, { error: { code: 'recursion_limit' } }],
        ),
        true,
      ),
    );

    expect(lines('openwop_interrupt_requested')).toEqual([
      'openwop_interrupt_requested_total{interrupt_kind="approval"} 1',
    ]);
    expect(lines('openwop_interrupt_duration_seconds_sum')).toEqual([
      'openwop_interrupt_duration_seconds_sum{interrupt_kind="approval",run_status="resolved"} 90',
    ]);
    expect(lines('openwop_activity_tokens')).toEqual([
      'openwop_activity_tokens_total{provider="mock",direction="input"} 3',
      'openwop_activity_tokens_total{provider="mock",direction="output"} 5',
    ]);
    expect(lines('openwop_orchestrator_decisions')).toHaveLength(1);
    expect(lines('openwop_cap_exceeded')).toEqual([
      'openwop_cap_exceeded_total{cap_kind="node-executions"} 1',
    ]);
  });

  it('never name a run or a tenant', () => {
    const registry = createRegistry();
    const observe = createRunMetrics(registry);

    observe(record, sampleEvents(['run.started', 1_000], ['run.failed', 2_000]), true);

    const text = renderPrometheus(registry.read());
    expect(text).not.toContain(record.runId);
    expect(text).not.toContain(record.tenant);
  });
});

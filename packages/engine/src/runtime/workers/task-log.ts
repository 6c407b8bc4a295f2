import type { JsonObject } from '@weft/protocol';
import type { NodeEvent } from '../../model/node-type.ts';

export interface TaskLogLimits {
  readonly taskLogLines: number;
  readonly taskLogBytes: number;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: JsonObject | undefined;
}

/** What one attempt of a task has logged. The lines are recorded with its outcome; a last one says how many there was no room for. */
export interface TaskLog {
  add(line: LogLine): void;
  lines(): readonly NodeEvent[];
}

export function createTaskLog(nodeId: string, { taskLogLines, taskLogBytes }: TaskLogLimits): TaskLog {
  const kept: NodeEvent[] = [];
  let bytes = 0;
  let dropped = 0;

  function event({ level, message, fields }: LogLine): NodeEvent {
    return {
      type: 'log.appended',
      payload: { level, nodeId, message, ...(fields !== undefined && { fields }) },
    };
  }

  return {
    add(line) {
      const size = Buffer.byteLength(JSON.stringify(line));
      if (dropped > 0 || kept.length >= taskLogLines || bytes + size > taskLogBytes) {
        dropped += 1;
        return;
      }
      bytes += size;
      kept.push(event(line));
    },
    lines() {
      if (dropped === 0) return kept;
      const message = `${dropped} more lines were not kept: an attempt may log ${taskLogLines} lines of ${taskLogBytes} bytes.`;
      return [...kept, event({ level: 'warn', message })];
    },
  };
}

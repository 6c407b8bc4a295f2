/** What a module may ask of its run. All of it was given with the call; what it sets is taken when the call has ended well. */
import type { Json } from '@weft/protocol';
import { STATUS } from './abi.ts';
import type { ModuleRun, ModuleWrites } from './thread-messages.ts';

/** Ends a call at a question that has no answer yet. */
export class Asked extends Error {
  readonly question: string;

  constructor(question: string) {
    super('The module asks.');
    this.question = question;
  }
}

export interface RunImports {
  readonly writes: ModuleWrites;
  /** The answer; throws Asked where there is none. */
  interrupt(question: string): string;
  /** JSON, or undefined. */
  readVariable(name: string): string | undefined;
  readChannel(name: string): string | undefined;
  /** These answer with a status of the ABI. */
  setVariable(name: string, value: string): number;
  writeChannel(name: string, value: string): number;
}

const MOST_WRITES = 1_000;
const MOST_WRITTEN = 256 * 1024;

export function createRunImports(run: ModuleRun = { answers: [] }): RunImports {
  const { answers, variables = {}, channels = {}, writable = [] } = run;
  const set = new Map<string, string>();
  const written: { channel: string; value: string }[] = [];
  let asked = 0;
  let writes = 0;
  let bytes = 0;

  /** The status of a write that is taken if it may be. */
  function taken(name: string, value: string, take: () => void): number {
    if (name === '' || !isJson(value)) return STATUS.validationError;
    writes += 1;
    bytes += name.length + value.length;
    if (writes > MOST_WRITES || bytes > MOST_WRITTEN) return STATUS.capabilityBreach;
    take();
    return STATUS.ok;
  }

  return {
    writes: {
      get variables() {
        return Object.fromEntries(set);
      },
      channels: written,
    },
    interrupt(question) {
      const answer = answers[asked];
      asked += 1;
      if (answer === undefined) throw new Asked(question);
      return JSON.stringify(answer);
    },
    readVariable: (name) => set.get(name) ?? memberOf(variables, name),
    readChannel: (name) => memberOf(channels, name),
    setVariable: (name, value) => taken(name, value, () => set.set(name, value)),
    writeChannel(name, value) {
      if (!writable.includes(name))
        return Object.hasOwn(channels, name) ? STATUS.channelAccessDenied : STATUS.notFound;
      return taken(name, value, () => written.push({ channel: name, value }));
    },
  };
}

function memberOf(values: Readonly<Record<string, Json>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? JSON.stringify(values[name]) : undefined;
}

/** Whether two readers would read it alike is looked at outside of the thread. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

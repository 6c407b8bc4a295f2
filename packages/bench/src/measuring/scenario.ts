import type { Driver } from '../load/driver.ts';
import type { EchoServer } from '../load/echo-server.ts';
import type { PostgresServer } from '../hosts/postgres-server.ts';
import type { Figure, Series } from '../report/results.ts';

/** One question with its answer in figures. Each can run alone; one that fails does not stop the others. */
export interface Scenario {
  /** For `--only`. */
  readonly name: string;
  readonly title: string;
  /** What the figures are put in relation to. */
  readonly rawLimit: string;
  /** Ids of the goals that are evaluated by its figures. */
  readonly goals: readonly string[];
  /** What has to be done first, when it cannot be measured as things are. */
  missing?(): string | undefined;
  measure(lab: Lab): Promise<Outcome>;
}

export interface Outcome {
  readonly figures: readonly Figure[];
  readonly series?: readonly Series[];
}

/** What scenarios share. */
export interface Lab {
  readonly quick: boolean;
  readonly rounds: number;
  /** How long one cell of a table is measured. */
  readonly cellMs: number;
  /** How long a contender serves the workload before anything of it is measured (see warm-up.ts). */
  readonly warmUpMs: number;
  readonly driver: Driver;
  readonly echo: EchoServer;
  /** A folder of its own, removed at the end of everything. */
  newFolder(name: string): string;
  /** One server for all scenarios, started when it is first asked for. */
  postgres(): Promise<PostgresServer>;
  /** What takes long to make is made once and then kept until the end. */
  once<Made>(name: string, make: () => Promise<Made>): Promise<Made>;
  /** Called at the end of the scenario in any case, latest first. */
  cleanUp(action: () => Promise<unknown> | void): void;
  note(line: string): void;
}

/** Picks the size for this run. */
export function sized<Size>(lab: Lab, full: Size, quick: Size): Size {
  return lab.quick ? quick : full;
}

import { HostError, type WorkflowDefinition } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WorkflowUnit } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { CONTENDED, isWritten, untilWritten } from '../commits/contended-write.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { OwnedTriggers } from '../triggers/owned-triggers.ts';

/** Writes a definition and the schedules and triggers that it declares, in one transaction. */
export interface RegistrationWriter {
  write(caller: Caller, content: Content, definition: WorkflowDefinition): Promise<void>;
  /** For what is registered already, maybe by a host that did not serve its triggers. */
  settleTriggers(caller: Caller, definition: WorkflowDefinition): Promise<void>;
}

type Content = Pick<WorkflowUnit, 'id' | 'version' | 'digest' | 'definition'>;

export interface RegistrationWriterDependencies {
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly owned: OwnedTriggers;
  /** A schedule may be due. */
  readonly wake: () => void;
}

export function createRegistrationWriter(dependencies: RegistrationWriterDependencies): RegistrationWriter {
  const { committer, clock, random, owned } = dependencies;

  return {
    async write(caller, content, definition) {
      await untilWritten(async () => {
        const documents = await owned.changes(caller, definition);
        const at = clock.now();
        const target = `${content.id}@${content.version}`;
        const act = { at, action: 'workflow.register', target, details: { digest: content.digest } };
        const result = await committer.submit({
          kind: 'workflow',
          batchId: randomId(random),
          tenant: caller.tenant,
          registeredAt: at,
          ...content,
          ...(documents.length > 0 && { documents }),
          audit: [auditOf(caller, act)],
        });
        if (result.state === 'refused' && result.reason === 'workflow_conflict') {
          throw versionExists(content.id, content.version);
        }
        if (!isWritten(result)) return CONTENDED;
        if (documents.length > 0) dependencies.wake();
        return undefined;
      });
    },
    async settleTriggers(caller, definition) {
      await untilWritten(async () => {
        const documents = await owned.changes(caller, definition);
        if (documents.length === 0) return undefined;
        const act = { at: clock.now(), action: 'workflow.triggers', target: definition.id };
        const result = await committer.submit({
          kind: 'audit',
          batchId: randomId(random),
          documents,
          audit: [auditOf(caller, act)],
        });
        if (!isWritten(result)) return CONTENDED;
        dependencies.wake();
        return undefined;
      });
    },
  };
}

export function versionExists(id: string, version: string): HostError {
  return new HostError(
    'workflow_version_exists',
    `Version ${version} of ${id} is registered with other content. Raise "version" and register again.`,
    { field: 'version', id, version },
  );
}

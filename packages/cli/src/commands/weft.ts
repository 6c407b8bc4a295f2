import { group } from '../parsing/command.ts';
import { annotate } from './annotate.ts';
import { answer } from './answer.ts';
import { backup } from './backup.ts';
import { approve, reject } from './approve.ts';
import { exportLog } from './audit/export.ts';
import { reanchor } from './audit/reanchor.ts';
import { verify as verifyAudit } from './audit/verify.ts';
import { cluster } from './cluster/index.ts';
import { conformance } from './conformance.ts';
import { diff } from './diff.ts';
import { bundle } from './bundle.ts';
import { doctor } from './doctor.ts';
import { fork } from './fork.ts';
import { importBundle } from './import.ts';
import { inbox } from './inbox.ts';
import { evidence } from './evidence/index.ts';
import { create as createKey } from './keys/create.ts';
import { ls as listKeys } from './keys/ls.ts';
import { revoke as revokeKey } from './keys/revoke.ts';
import { rotateLinks } from './keys/rotate-links.ts';
import { mcp } from './mcp/index.ts';
import { peers } from './peers/index.ts';
import { newProject } from './new.ts';
import { costs } from './costs/index.ts';
import { models } from './models/index.ts';
import { nodes } from './nodes/index.ts';
import { open } from './open.ts';
import { pack } from './pack/index.ts';
import { resolve } from './resolve.ts';
import { restore } from './restore.ts';
import { retention } from './retention.ts';
import { run } from './run.ts';
import { artifact } from './runs/artifact.ts';
import { annotations } from './runs/annotations.ts';
import { cancel } from './runs/cancel.ts';
import { erase } from './runs/erase.ts';
import { events } from './runs/events.ts';
import { ls as listRuns } from './runs/ls.ts';
import { pause } from './runs/pause.ts';
import { prune } from './runs/prune.ts';
import { release } from './runs/release.ts';
import { resume } from './runs/resume.ts';
import { retry } from './runs/retry.ts';
import { rm as removeRuns } from './runs/rm.ts';
import { show as showRun } from './runs/show.ts';
import { why } from './runs/why.ts';
import { ls as listSecrets } from './secrets/ls.ts';
import { rm as removeSecret } from './secrets/rm.ts';
import { set as setSecret } from './secrets/set.ts';
import { agents } from './agents/index.ts';
import { prompts } from './prompts/index.ts';
import { schedules } from './schedules/index.ts';
import { serve } from './serve.ts';
import { worker } from './worker.ts';
import { ls as listWorkers } from './workers/ls.ts';
import { triggers } from './triggers/index.ts';
import { webhooks } from './webhooks/index.ts';
import { build } from './workflows/build.ts';
import { check } from './workflows/check.ts';
import { ls as listWorkflows } from './workflows/ls.ts';
import { register } from './workflows/register.ts';
import { show as showWorkflow } from './workflows/show.ts';

/** The whole command line: nouns, then verbs, in the API's words. */
export const weft = group('weft', 'A durable workflow host for the OpenWOP v1 protocol', [
  newProject,
  serve,
  open,
  worker,
  run,
  group('runs', 'List and control runs', [
    listRuns,
    showRun,
    events,
    why,
    annotations,
    artifact,
    cancel,
    pause,
    resume,
    release,
    retry,
    removeRuns,
    prune,
    erase,
  ]),
  fork,
  diff,
  bundle,
  importBundle,
  annotate,
  inbox,
  approve,
  reject,
  answer,
  resolve,
  group('workflows', 'List, check and register workflows', [
    listWorkflows,
    showWorkflow,
    check,
    build,
    register,
  ]),
  models,
  costs,
  nodes,
  mcp,
  peers,
  pack,
  group('workers', 'See who serves node types', [listWorkers]),
  group('keys', 'Manage API keys', [
    listKeys,
    createKey,
    revokeKey,
    group('rotate', 'Rotate signing keys', [rotateLinks]),
  ]),
  group('secrets', 'Manage secrets for nodes', [listSecrets, setSecret, removeSecret]),
  prompts,
  agents,
  schedules,
  triggers,
  webhooks,
  group('audit', 'Verify and export the audit log', [verifyAudit, exportLog, reanchor]),
  cluster,
  evidence,
  conformance,
  retention,
  backup,
  restore,
  doctor,
]);

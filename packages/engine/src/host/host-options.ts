import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import type { MaskingMode } from '../core/compile/plan.ts';
import type { Egress, NodeType } from '../model/node-type.ts';
import type { Authenticate } from '../ports/authenticate.ts';
import type { AuditAnchor } from '../runtime/audit/audit-anchor.ts';
import type { Clock } from '../ports/clock.ts';
import type { Conformance } from '../ports/conformance.ts';
import type { Models } from '../ports/models.ts';
import type { Peers } from '../ports/peers.ts';
import type { PackFormat } from '../ports/packs.ts';
import type { TaskPushFormat } from '../ports/task-pushes.ts';
import type { Tools } from '../ports/tools.ts';
import type { Trials } from '../ports/trials.ts';
import type { TenantBudgets } from '../runtime/costs/tenant-budgets.ts';
import type { RandomBytes } from '../runtime/runs/ids.ts';
import type { GrpcOffer } from './capabilities.ts';
import type { HostLimits } from './limits.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

export interface HostOptions {
  readonly store: Store;
  /** Version of the product, for discovery. */
  readonly version: string;
  readonly limits?: Partial<HostLimits>;
  readonly log?: Log;
  /** Makes it a test host: test keys, mocks and probes of the suite. A store that was live once can never become one. */
  readonly conformance?: Conformance | undefined;
  /** Asked about a credential before the API keys are; they are looked at when it answers `unknown`. */
  readonly authenticate?: Authenticate;
  /** Owner of what the host loads by itself. */
  readonly defaultTenant?: string;
  /** Exact HOST:PORT pairs that nodes may reach although they are not public. */
  readonly egressAllow?: readonly string[];
  /** Where this process listens, once it does: nodes reach it as `weft://self`, if `egressAllow` admits it. */
  readonly ownUrl?: () => string | undefined;
  /** `hash` needs `secretsKey`; without it values are masked as by `mask`. */
  readonly maskingDefault?: MaskingMode;
  /** Capability ids that nodes may require. */
  readonly runtimeCapabilities?: readonly string[];
  /** In addition to the built-in ones. */
  readonly nodes?: readonly NodeType[];
  /** The language models that nodes may ask; without them the host has none. */
  readonly models?: Models | undefined;
  /** What tenants may spend on models, by tenant; `*` for those that are not named. */
  readonly budgets?: TenantBudgets | undefined;
  /** The tool servers that nodes may call; without them the host has none. */
  readonly tools?: Tools;
  /** The agents of other hosts that nodes may call; without them the host has none. */
  readonly peers?: Peers;
  /** How tasks are pushed to agents of other hosts; without it none can ask for that. */
  readonly taskPushes?: TaskPushFormat | undefined;
  /** Makes it a registry of packs: how they are read. Without it the host has none. */
  readonly packs?: PackFormat | undefined;
  /** Under which name the host is reached, for links in callbacks; without it they carry the token alone. */
  readonly publicUrl?: string;
  /** Instead of the policy of `egressAllow`. */
  readonly egress?: Egress;
  /** 32 bytes that encrypt the secrets kept here, and from which other keys are derived. Without it the host keeps and resolves none. */
  readonly secretsKey?: Uint8Array | undefined;
  /** Ed25519 private key that signs checkpoints of the audit log and debug bundles. Without it there are no checkpoints, and bundles are unsigned. */
  readonly auditKey?: KeyObject;
  /** Where the last seal of the audit log is kept outside the store. A host whose store does not hold it does not start. */
  readonly auditAnchor?: AuditAnchor | undefined;
  /** Every run that is created is an audit entry as well; with a key, the host then claims the protocol's audit profile. */
  readonly auditRuns?: boolean;
  /** What this process is called among those on the same store; something unique is added. */
  readonly node?: string;
  /** Spans and metrics of this host go to a collector, so discovery says so. */
  readonly exportsTelemetry?: boolean;
  /** Where assistants reach the workflows of this host as tools, for discovery: paths, or addresses. */
  readonly mcpServerUrls?: readonly string[];
  /** Where the card of this host as an A2A agent is, for discovery: a path, or an address. */
  readonly agentCardUrl?: string;
  /** What runs packs next to the host, for discovery: by language, as the protocol has it. */
  readonly nodePackRuntimes?: JsonObject | undefined;
  /** Agents of packs are installed in this host, so discovery says so. */
  readonly hasPackAgents?: boolean;
  /** Where gRPC is served, once it is, so that discovery says so. */
  readonly grpc?: () => GrpcOffer | undefined;
  /** Where runs that lost two holders in a row are tried first; without it no run is set aside for ending processes. */
  readonly trials?: Trials | undefined;
  /** Divides the waits between attempts of a delivery: hours are too long for a test. */
  readonly retryScaleForTests?: number;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

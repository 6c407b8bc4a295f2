import type { PackManifest } from '@weft/packs';
import type { ArgsDef } from 'citty';

/** Where the packs of a host are, and whose they are. */
export const PACKS_ARGS = {
  tenant: {
    type: 'string',
    valueHint: 'TENANT',
    description: 'Whose packs; those of other tenants than the default one are in DIR/tenants/TENANT',
  },
  packs: {
    type: 'string',
    valueHint: 'DIR',
    default: 'packs',
    description: 'Folder of the installed packs, with pack-lock.json and trust.json',
  },
} as const satisfies ArgsDef;

/** Where the sources of a pack are, and what it is called. */
export const SOURCE_ARGS = {
  folder: {
    type: 'positional',
    description: 'Folder with pack.json, or with files of node types (default: this one)',
    required: false,
  },
  name: {
    type: 'string',
    valueHint: 'NAME',
    description: 'Name of the pack, such as vendor.acme.payments; default: the one in pack.json',
  },
  version: {
    type: 'string',
    valueHint: 'VERSION',
    description: 'Version of the pack; default: the one in pack.json',
  },
} as const satisfies ArgsDef;

export const ARCHIVE_ARGS = {
  file: { type: 'positional', description: 'An archive that weft pack build made', required: true },
} as const satisfies ArgsDef;

export const INTEGRITY_ARGS = {
  integrity: {
    type: 'string',
    valueHint: 'SHA256',
    description: 'The digest that the archive must have, as weft pack build prints it',
  },
} as const satisfies ArgsDef;

/** What a pack brings: node types and agents. */
export function partsOf({ nodes, agents = [] }: PackManifest) {
  return {
    types: nodes.map(({ typeId }) => typeId),
    agents: agents.map(({ agentId }) => agentId),
  };
}

export function partsText({ types, agents }: Partial<ReturnType<typeof partsOf>>): string {
  return [...(types ?? []), ...(agents ?? [])].join(', ');
}

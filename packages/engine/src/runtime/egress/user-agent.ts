import { createRequire } from 'node:module';

const manifest: unknown = createRequire(import.meta.url)('../../../package.json');

/** How every outbound request introduces itself, unless it says otherwise. */
export const USER_AGENT = `weft/${versionOf(manifest)}`;

function versionOf(value: unknown): string {
  const hasVersion = typeof value === 'object' && value !== null && 'version' in value;
  return hasVersion && typeof value.version === 'string' ? value.version : '0';
}

/**
 * The header that offers a body for download under a name, in both spellings of RFC 6266: plain for old clients, UTF-8 for all
 * others. The name was given by a workflow, or by a server that a workflow called, so it says only what a file may be called,
 * never where it goes: a client that uses it as it stands writes into its own folder, a visible file that is no device.
 */
export function attachment(name: string): string {
  const base = baseName(name);
  const plain = base.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const extended = encodeURIComponent(base).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}

/** Of the separators and signs of any system, and nothing that cannot be seen. */
const NOT_IN_NAMES = /[<>:"|?*\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** Devices of Windows, whatever ending follows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const LONGEST = 150;

function baseName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const cleaned = last
    .replace(NOT_IN_NAMES, '_')
    .replace(/^[.\-~\s]+/, '_') // hidden, or taken for a flag
    .replace(/[.\s]+$/, '');
  const [...signs] = DEVICE.test(cleaned) ? `_${cleaned}` : cleaned;
  return signs.slice(-LONGEST).join('') || 'artifact';
}

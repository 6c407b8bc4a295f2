const NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text from a host, for markup: XML allows no control characters, and a page should not be laid out by them. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[&<>"']/g, (found) => NAMES[found] ?? found)
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g,
      (found) => {
        const code = found.charCodeAt(0).toString(16).padStart(4, '0');
        return `\\u${code}`;
      },
    );
}

/** A JSON Pointer as people write it: `/inputs/items/3` is `inputs.items.3`. What `details.field` holds everywhere. */
export function fieldName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

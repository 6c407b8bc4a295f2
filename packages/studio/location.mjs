import { fileURLToPath } from 'node:url';

/** The folder of the built page: index.html, and what it loads from assets/ under names that change with their content. */
export const STUDIO_FOLDER = fileURLToPath(new URL('./dist', import.meta.url));

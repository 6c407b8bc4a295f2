/** `node --import @weft/cli/typescript FILE.ts`: TypeScript of users in Node itself, for tests. Types are not checked. */
import { register } from 'node:module';

process.setSourceMapsEnabled(true);
register('./typescript-hooks.js', import.meta.url);

export { type Io, type Sink, processIo } from './io.ts';
export { main } from './main.ts';
export { renderSettingsReference } from './serve/settings/settings-reference.ts';

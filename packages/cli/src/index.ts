export { type Io, type Sink, processIo } from './io.ts';
export { main } from './main.ts';

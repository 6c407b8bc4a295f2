import { PackError } from '../pack-error.ts';
import { IMPORT_MODULE, NEEDED_EXPORTS, OFFERED_IMPORTS } from './abi.ts';

/** Compiles a module and holds what it exports and imports to the ABI. Nothing of it is run. Throws PackError. */
export function compileModule(bytes: Uint8Array): WebAssembly.Module {
  const module = compiled(bytes);
  const exported = new Map(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]));
  for (const [name, kind] of Object.entries(NEEDED_EXPORTS))
    if (exported.get(name) !== kind) throw invalid(`it does not export the ${kind} ${name}`);
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
    if (from !== IMPORT_MODULE || kind !== 'function' || !OFFERED_IMPORTS.includes(name))
      throw invalid(`it imports the ${kind} ${from}.${name}, which is not offered`);
  return module;
}

function compiled(bytes: Uint8Array): WebAssembly.Module {
  try {
    return new WebAssembly.Module(new Uint8Array(bytes));
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function invalid(problem: string, cause?: unknown): PackError {
  return new PackError('wasm_module_invalid', `The WASM module cannot be used: ${problem}.`, { cause });
}

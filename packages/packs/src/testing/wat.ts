import { createRequire } from 'node:module';

interface Wabt {
  parseWat(
    name: string,
    source: string,
    features: object,
  ): { toBinary(options: object): { readonly buffer: Uint8Array }; destroy(): void };
}

const load = createRequire(new URL('../../../../tools/wasm/package.json', import.meta.url));

/** Assembles the text form of WebAssembly. */
export async function wasmOf(source: string): Promise<Uint8Array> {
  const wabt = await (load('wabt') as () => Promise<Wabt>)();
  const module = wabt.parseWat('test.wat', source, { multi_value: true, bulk_memory: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

export interface ModuleParts {
  readonly name?: string;
  readonly typeId?: string;
  readonly memory?: string;
  readonly abi?: number;
  readonly imports?: string;
  /** Body of `openwop_node_invoke`: node, request, size → pointer and length. */
  readonly invoke?: string;
  /** Body of `openwop_alloc`. */
  readonly alloc?: string;
  readonly more?: string;
  readonly without?: string;
}

/** A module of `vendor.acme.hello` with the node type `acme.hello.greet`; what is not said does the least. */
export function moduleText(parts: ModuleParts = {}): string {
  const {
    name = 'vendor.acme.hello',
    typeId = 'acme.hello.greet',
    memory = '1 4',
    abi = 1,
    imports = '',
    invoke = answer('{"outcome":"completed","output":{}}'),
    alloc = '(i32.const 32768)',
    more = '',
  } = parts;
  const text = `(module ${imports}
    (memory (export "memory") ${memory})
    (data (i32.const 16) "${name}") (data (i32.const 64) "${typeId}")
    (func (export "openwop_abi_version") (result i32) (i32.const ${abi}))
    (func (export "openwop_pack_name") (result i32 i32) (i32.const 16) (i32.const ${name.length}))
    (func (export "openwop_node_count") (result i32) (i32.const 1))
    (func (export "openwop_node_id_at") (param i32) (result i32 i32) (i32.const 64) (i32.const ${typeId.length}))
    (func (export "openwop_alloc") (param i32) (result i32) ${alloc})
    (func (export "openwop_free") (param i32 i32))
    ${invoke} ${more})`;
  return parts.without === undefined ? text : text.replace(`(export "${parts.without}")`, '');
}

/** An invoke that answers a text. */
export function answer(text: string, before = ''): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `(data (i32.const 1024) "${escaped}")
    (func (export "openwop_node_invoke") (param i32 i32 i32) (result i32 i32)
      ${before} (i32.const 1024) (i32.const ${Buffer.byteLength(text)}))`;
}

/** An invoke that does this. */
export function doing(body: string): string {
  return `(func (export "openwop_node_invoke") (param i32 i32 i32) (result i32 i32) ${body})`;
}

;; A node type in WebAssembly: takes inputs.name, gives {"greeting":"Hello, NAME!"}. It answers pointers and lengths as one number
;; of 64 bits, the length in its upper half.
(module
  (import "openwop" "openwop_log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1 16)

  (data (i32.const 16) "vendor.example.hello")
  (data (i32.const 64) "example.hello.greet")
  (data (i32.const 128) "\"inputs\":")
  (data (i32.const 160) "\"name\":\"")
  (data (i32.const 192) "{\"outcome\":\"completed\",\"output\":{\"greeting\":\"Hello, ")
  (data (i32.const 256) "!\"}}")
  (data (i32.const 288) "world")
  (data (i32.const 320) "greeting")

  (global $free_from (mut i32) (i32.const 4096))

  (func (export "openwop_abi_version") (result i32) (i32.const 1))
  (func (export "openwop_pack_name") (result i64) (call $pair (i32.const 16) (i32.const 20)))
  (func (export "openwop_node_count") (result i32) (i32.const 1))
  (func (export "openwop_node_id_at") (param i32) (result i64) (call $pair (i32.const 64) (i32.const 19)))

  (func $pair (param $pointer i32) (param $length i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $length)) (i64.const 32))
      (i64.extend_i32_u (local.get $pointer))))

  ;; Takes from the end of what is used; nothing is given back, because an instance serves one call.
  (func $alloc (export "openwop_alloc") (param $size i32) (result i32)
    (local $pointer i32)
    (local.set $pointer (global.get $free_from))
    (global.set $free_from (i32.add (local.get $pointer) (local.get $size)))
    (block $fits
      (loop $grow
        (br_if $fits (i32.le_u (global.get $free_from) (i32.mul (memory.size) (i32.const 65536))))
        (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
        (br $grow)))
    (local.get $pointer))
  (func (export "openwop_free") (param i32 i32))

  ;; Where the needle is found behind `at`, or -1.
  (func $find (param $at i32) (param $end i32) (param $needle i32) (param $length i32) (result i32)
    (local $index i32)
    (block $missing
      (loop $next
        (br_if $missing (i32.gt_u (i32.add (local.get $at) (local.get $length)) (local.get $end)))
        (local.set $index (i32.const 0))
        (block $differs
          (loop $compare
            (if (i32.eq (local.get $index) (local.get $length)) (then (return (local.get $at))))
            (br_if $differs
              (i32.ne
                (i32.load8_u (i32.add (local.get $at) (local.get $index)))
                (i32.load8_u (i32.add (local.get $needle) (local.get $index)))))
            (local.set $index (i32.add (local.get $index) (i32.const 1)))
            (br $compare)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i32.const -1))

  ;; The end of a JSON string that begins at `at`; what is escaped in it stays escaped.
  (func $string_end (param $at i32) (param $end i32) (result i32)
    (local $byte i32)
    (block $ended
      (loop $next
        (br_if $ended (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (br_if $ended (i32.eq (local.get $byte) (i32.const 34)))
        (local.set $at
          (i32.add
            (local.get $at)
            (select (i32.const 2) (i32.const 1) (i32.eq (local.get $byte) (i32.const 92)))))
        (br $next)))
    (local.get $at))

  (func (export "openwop_node_invoke") (param $node i32) (param $request i32) (param $size i32) (result i64)
    (local $end i32)
    (local $name i32)
    (local $length i32)
    (local $answer i32)
    (local.set $end (i32.add (local.get $request) (local.get $size)))
    (local.set $name (i32.const 288))
    (local.set $length (i32.const 5))
    (block $unnamed
      (local.set $answer (call $find (local.get $request) (local.get $end) (i32.const 128) (i32.const 9)))
      (br_if $unnamed (i32.eq (local.get $answer) (i32.const -1)))
      (local.set $answer (call $find (local.get $answer) (local.get $end) (i32.const 160) (i32.const 8)))
      (br_if $unnamed (i32.eq (local.get $answer) (i32.const -1)))
      (local.set $name (i32.add (local.get $answer) (i32.const 8)))
      (local.set $length
        (i32.sub (call $string_end (local.get $name) (local.get $end)) (local.get $name))))
    (call $log (i32.const 2) (i32.const 320) (i32.const 8))
    (local.set $answer (call $alloc (i32.add (local.get $length) (i32.const 56))))
    (memory.copy (local.get $answer) (i32.const 192) (i32.const 52))
    (memory.copy (i32.add (local.get $answer) (i32.const 52)) (local.get $name) (local.get $length))
    (memory.copy
      (i32.add (i32.add (local.get $answer) (i32.const 52)) (local.get $length))
      (i32.const 256)
      (i32.const 4))
    (call $pair (local.get $answer) (i32.add (local.get $length) (i32.const 56)))))

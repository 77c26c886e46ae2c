;; Loops over a generator's functions, which would cost microseconds a signal if they crossed into the host.
;; Values lie from 0 on in this module's memory.
(module
  (import "circuit" "getWitness" (func $get_witness (param i32)))
  (import "circuit" "setInputSignal" (func $set_input (param i32 i32 i32)))
  (import "circuit" "readSharedRWMemory" (func $read_word (param i32) (result i32)))
  (import "circuit" "writeSharedRWMemory" (func $write_word (param i32 i32)))
  (memory (export "memory") 1)

  (func (export "read_witness") (param $count i32) (param $words i32)
    (local $wire i32)
    (local $word i32)
    (local $address i32)
    (block $done
      (loop $wires
        (br_if $done (i32.ge_u (local.get $wire) (local.get $count)))
        (call $get_witness (local.get $wire))
        (local.set $word (i32.const 0))
        (loop $element
          (i32.store (local.get $address) (call $read_word (local.get $word)))
          (local.set $address (i32.add (local.get $address) (i32.const 4)))
          (local.set $word (i32.add (local.get $word) (i32.const 1)))
          (br_if $element (i32.lt_u (local.get $word) (local.get $words))))
        (local.set $wire (i32.add (local.get $wire) (i32.const 1)))
        (br $wires))))

  (func (export "set_signal") (param $high i32) (param $low i32) (param $count i32) (param $words i32)
    (local $index i32)
    (local $word i32)
    (local $address i32)
    (block $done
      (loop $elements
        (br_if $done (i32.ge_u (local.get $index) (local.get $count)))
        (local.set $word (i32.const 0))
        (loop $element
          (call $write_word (local.get $word) (i32.load (local.get $address)))
          (local.set $address (i32.add (local.get $address) (i32.const 4)))
          (local.set $word (i32.add (local.get $word) (i32.const 1)))
          (br_if $element (i32.lt_u (local.get $word) (local.get $words))))
        (call $set_input (local.get $high) (local.get $low) (local.get $index))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $elements)))))

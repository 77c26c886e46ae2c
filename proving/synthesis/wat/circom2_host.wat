;; What generators of circom 2 import. Everything they tell is kept in a journal in this module's memory, so that no
;; call crosses into the host: a tag byte (1 error, 2 log text, 3 log value), then text and a zero byte, or 32 bytes.
(module
  (type $next_character (func (result i32)))
  (type $read_word (func (param i32) (result i32)))
  (table (export "circuit") 2 funcref) ;; 0: getMessageChar, 1: readSharedRWMemory
  (memory (export "memory") 4)
  (global $length (export "length") (mut i32) (i32.const 0))
  (global $raised (export "raised") (mut i32) (i32.const 0))
  (global $code (export "code") (mut i32) (i32.const 0))

  (func (export "exceptionHandler") (param $code i32)
    (global.set $raised (i32.const 1))
    (global.set $code (local.get $code))
    unreachable)

  (func $put (param $byte i32)
    (if (i32.lt_u (global.get $length) (i32.const 262144))
      (then
        (i32.store8 (global.get $length) (local.get $byte))
        (global.set $length (i32.add (global.get $length) (i32.const 1))))))

  (func $put_message (param $tag i32)
    (local $character i32)
    (local $left i32)
    (local.set $left (i32.const 4096))
    (call $put (local.get $tag))
    (block $done
      (loop $characters
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (local.set $character (call_indirect (type $next_character) (i32.const 0)))
        (br_if $done (i32.eqz (local.get $character)))
        (call $put (local.get $character))
        (br $characters)))
    (call $put (i32.const 0)))

  (func (export "printErrorMessage")
    (call $put_message (i32.const 1)))

  (func (export "writeBufferMessage")
    (call $put_message (i32.const 2)))

  (func (export "showSharedRWMemory")
    (local $word i32)
    (local $shift i32)
    (call $put (i32.const 3))
    (loop $words
      (local.set $shift (i32.const 0))
      (loop $bytes
        (call $put
          (i32.shr_u
            (call_indirect (type $read_word) (local.get $word) (i32.const 1))
            (local.get $shift)))
        (local.set $shift (i32.add (local.get $shift) (i32.const 8)))
        (br_if $bytes (i32.lt_u (local.get $shift) (i32.const 32))))
      (local.set $word (i32.add (local.get $word) (i32.const 1)))
      (br_if $words (i32.lt_u (local.get $word) (i32.const 8))))))

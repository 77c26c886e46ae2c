;; What generators of circom 1 import. Logged values are copied to a journal in this module's own memory, 40 bytes
;; each; what the circuit tells about every signal and component is dropped. No call crosses into the host.
(module
  (import "env" "memory" (memory $circuit 0))
  (memory $journal (export "memory") 4)
  (global $length (export "length") (mut i32) (i32.const 0))
  (global $raised (export "raised") (mut i32) (i32.const 0))
  (global $code (export "code") (mut i32) (i32.const 0))
  (global $text (export "text") (mut i32) (i32.const 0))
  (global $third (export "third") (mut i32) (i32.const 0))
  (global $fourth (export "fourth") (mut i32) (i32.const 0))

  (func (export "error") (param $code i32) (param $text i32)
    (param $first i32) (param $second i32) (param $third i32) (param $fourth i32)
    (global.set $raised (i32.const 1))
    (global.set $code (local.get $code))
    (global.set $text (local.get $text))
    (global.set $third (local.get $third))
    (global.set $fourth (local.get $fourth))
    unreachable)

  (func (export "log") (param $address i32)
    (if (i32.le_u (global.get $length) (i32.const 262104))
      (then
        (memory.copy $journal $circuit (global.get $length) (local.get $address) (i32.const 40))
        (global.set $length (i32.add (global.get $length) (i32.const 40))))))

  (func (export "logSetSignal") (param i32 i32))
  (func (export "logGetSignal") (param i32 i32))
  (func (export "logStartComponent") (param i32))
  (func (export "logFinishComponent") (param i32)))

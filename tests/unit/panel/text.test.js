import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clock, duration, plural, roughly, shorten, size, sizeOf } from '../../../proving/panel/static/panel/text.js';

test('ids that differ in their tail stay different however little room there is', () => {
  const ids = ['ps-snap-1000-1-4711', 'ps-snap-1000-1-4712'];
  for (let room = 1; room <= 24; room++) {
    const [a, b] = ids.map(id => shorten(id, room));
    assert.notEqual(a, b, `${room}: ${a}`);
    assert.ok(a.endsWith('1') && b.endsWith('2'));
    assert.ok(a.length <= Math.max(room, 1));
  }
});

test('an id that fits is left alone', () => {
  assert.equal(shorten('ps-snap-1000-1-4711', 19), 'ps-snap-1000-1-4711');
  assert.equal(shorten('', 5), '');
});

test('an id that does not fit keeps its head and the larger half as tail', () => {
  assert.equal(shorten('ps-snap-1000-1-4711', 12), 'ps-s…-1-4711');
  assert.equal(shorten('groth16-01KBPS6ZC1Q8X2W7N4V9R3T5HM', 24), 'groth16-01…2W7N4V9R3T5HM');
});

test('a character outside the basic plane is not cut in two', () => {
  assert.equal(shorten('🜁🜂🜃🜄🜁🜂🜃🜄', 4), '🜁…🜃🜄');
});

test('durations', () => {
  const seconds = { 0: '0.0 s', 0.84: '0.8 s', 9.96: '9.9 s', 12.9: '12 s', 59.99: '59 s', 64: '1:04', 3599: '59:59', 7500: '2 h 05', 270000: '3 d 3 h' };
  for (const [s, words] of Object.entries(seconds)) assert.equal(duration(s * 1000), words, s);
  assert.equal(duration(-5), '0.0 s');
});

test('estimates are coarse', () => {
  assert.equal(roughly(1200), '≈ 5 s');
  assert.equal(roughly(42_000), '≈ 40 s');
  assert.equal(roughly(58_000), '≈ 1 min');
  assert.equal(roughly(170_000), '≈ 3 min');
  assert.equal(roughly(7_300_000), '≈ 2 h');
});

test('sizes', () => {
  assert.equal(size(0), '0 B');
  assert.equal(size(1023), '1023 B');
  assert.equal(size(28_800_000), '27.5 MiB');
  assert.equal(size(2 ** 31), '2.0 GiB');
  assert.equal(sizeOf(45_741_401_702, 51_539_607_552), '42.6 of 48.0 GiB');
  assert.equal(sizeOf(3 * 2 ** 20, 2 ** 31), '3.0 MiB of 2.0 GiB');
  assert.equal(sizeOf(0, 2 ** 31), '0.0 of 2.0 GiB');
});

test('plurals and clocks', () => {
  assert.equal(plural(1, 'job'), '1 job');
  assert.equal(plural(1200, 'job'), '1,200 jobs');
  assert.equal(plural(2, 'partition waits', 'partitions wait'), '2 partitions wait');
  const noon = new Date(2026, 10, 30, 12, 5, 9).getTime();
  assert.equal(clock(noon), '12:05:09');
  assert.equal(clock(noon, false), '12:05');
});

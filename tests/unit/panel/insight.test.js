import assert from 'node:assert/strict';
import { test } from 'node:test';

import { attention, bottleneck, contradictions, verdict } from '../../../proving/panel/static/panel/insight.js';
import { readDocument } from '../../../proving/panel/static/panel/model.js';
import { T0, job, partition, proving, status, waiting, worker } from './samples.js';

const read = (...parts) => readDocument(status(...parts));
const AT = (T0 + 60) * 1000;
const say = doc => Object.values(verdict(doc, AT)).join(' ');

test('nothing to prove', () => {
  assert.equal(say(read([], [worker(0), worker(1)])), 'Nothing to prove. 2 devices idle and ready.');
  assert.equal(say(read([], [worker(0)])), 'Nothing to prove. The device is idle and ready.');
  assert.equal(say(read([], [])), 'Nothing to prove. No device is connected.');
});

test('busy devices and a queue before them: the device is the bottleneck', () => {
  const doc = read([job('j', [proving(0, T0 + 9), waiting(1, T0 + 5), waiting(2, T0 + 20)])], [worker(0, ['j', 0])]);
  assert.equal(bottleneck(doc, AT), 'gpu');
  assert.equal(say(doc), 'The device is busy. Device time is the bottleneck: 2 partitions wait, the oldest for 55 s.');
});

test('a free device beside work that waits is no bottleneck for the time of a message, and one after it', () => {
  const lately = read([job('j', [waiting(0, T0 + 58)])], [worker(0)]);
  assert.equal(bottleneck(lately, AT), null);
  const long = read([job('j', [waiting(0, T0 + 20)])], [worker(0)]);
  assert.equal(bottleneck(long, AT), 'synth_done');
  assert.match(say(long), /^The device is idle\. 1 partition waits although a device is free, the oldest for 40 s\.$/);
});

test('a device that changes partitions is told as that, and the queue before it stays the bottleneck', () => {
  const free = worker(0, null, { idle_since: T0 + 59.8 });
  const doc = read([job('j', [waiting(0, T0 + 20), waiting(1, T0 + 30)])], [free]);
  assert.equal(say(doc), 'The device is between partitions. Device time is the bottleneck: 2 partitions wait, the oldest for 40 s.');
  const two = read([job('j', [proving(2, T0 + 9), waiting(0, T0 + 20)])], [free, worker(1, ['j', 2])]);
  assert.match(say(two), /^1 of 2 devices between partitions\. Device time/);
});

test('a free device on another host does not help', () => {
  const elsewhere = worker(1, null, { name: 'gpu0@b', host: 'b' });
  const doc = read([job('j', [proving(0, T0 + 9), waiting(1, T0 + 20, 'a')])], [worker(0, ['j', 0]), elsewhere]);
  assert.equal(bottleneck(doc, AT), 'gpu');
  assert.match(say(doc), /^1 of 2 devices idle\. Device time is the bottleneck/);
});

test('no device at all', () => {
  const doc = read([job('j', [waiting(0, T0 + 20)])], []);
  assert.equal(say(doc), 'No device is connected. 1 partition waits for a device, the oldest for 40 s.');
});

test('an idle device and work being synthesized: synthesis is the bottleneck', () => {
  const doc = read([job('j', [partition(0, 'synthesizing', { synth_started_at: T0 + 5 })])], [worker(0)]);
  assert.equal(say(doc), 'The device is idle. Synthesis is the bottleneck: devices wait for work.');
});

test('work that nobody synthesizes', () => {
  const doc = read([job('j', [partition(0, 'pending'), partition(1, 'pending')])], [worker(0)]);
  assert.equal(say(doc), 'The device is idle. 2 partitions pending, none is being synthesized.');
});

test('many in finalizing for each on a device', () => {
  const late = { synth_ended_at: T0 + 2, gpu_started_at: T0 + 3, gpu_ended_at: T0 + 4 };
  const list = [0, 1, 2, 3, 4].map(i => partition(i, 'finalizing', late));
  assert.equal(bottleneck(read([job('j', [...list, proving(5, T0 + 5)])], [worker(0, ['j', 5])]), AT), 'finalizing');
});

test('failures come first and carry their reason; a retried partition names its earlier error', () => {
  const history = [{ attempt: 1, error: 'lease ran out', ended_at: T0 + 9 }];
  const doc = read([
    job('held', [partition(0, 'pending')], { waiting_for: { resource: 'host_memory', host: 'a', needs_bytes: 2 ** 31, free_bytes: 2 ** 30 } }),
    job('j', [partition(0, 'pending', {}, { attempt: 2, history }), partition(1, 'failed', { finished_at: T0 + 8 }, { error: 'assertion 4 of main' })]),
  ], [worker(0)]);
  assert.deepEqual(attention(doc).map(i => [i.id, i.title, i.text]), [
    ['j', 'P1 failed', 'assertion 4 of main'],
    ['held', 'Held back', 'needs 2.0 GiB; a has 1.0 GiB free'],
    ['j', 'P0 on attempt 2', 'Attempt 1 did not end: lease ran out'],
  ]);
  assert.match(say(doc), /1 partition failed, 1 job held back\.$/);
});

test('a job that failed as a whole, and an attempt that was handed back, say why', () => {
  const history = [{ attempt: 1, outcome: 'released', error: 'released', worker: 'gpu0@a', ended_at: T0 + 9 }];
  const doc = read([
    job('late', [partition(0, 'cancelled')], { state: 'failed', error: 'the deadline has passed' }),
    job('j', [partition(0, 'synth_done', {}, { attempt: 2, history })], { state: 'running', error: null }),
  ], [worker(0)]);
  assert.deepEqual(attention(doc).map(i => [i.title, i.text]), [
    ['Job failed', 'the deadline has passed'],
    ['P0 on attempt 2', 'Attempt 1 on gpu0@a was handed back'],
  ]);
});

test('a silent worker is told', () => {
  const helper = { name: 'synthesis@a/1', kind: 'synthesis', state: 'idle', last_seen_secs_ago: 1 };
  const [item, ...others] = attention(read([], [worker(0, null, { last_seen_secs_ago: 19.4 })], { workers: [helper] }));
  assert.equal(item.id, 'gpu0@a');
  assert.deepEqual(others, []);
  assert.equal(item.text, 'It was last heard 19 s before this snapshot.');
});

test('a document whose two sides agree holds no contradiction', () => {
  assert.deepEqual(contradictions(read([job('j', [proving(0, T0 + 9), waiting(1, T0 + 9)])], [worker(0, ['j', 0]), worker(1)])), []);
  // a finished job may have left the document before its device took the next one
  assert.deepEqual(contradictions(read([], [worker(0, ['gone', 0])])), []);
});

test('an idle worker whose partition stands on a device is a contradiction, and so is the reverse', () => {
  assert.deepEqual(contradictions(read([job('j', [proving(0, T0 + 9)])], [worker(0)])), [
    'P0 of j is on a device, but no device is proving it',
  ]);
  const late = partition(0, 'finalizing', { gpu_started_at: T0 + 3, gpu_ended_at: T0 + 4 });
  assert.deepEqual(contradictions(read([job('j', [late])], [worker(0, ['j', 0])])), [
    'gpu0@a is proving P0 of j, which stands as finalizing',
  ]);
});

test('what somebody asked for is no trouble', () => {
  const stopped = job('j', [partition(0, 'cancelled')], { state: 'cancelled', error: 'cancelled by its owner' });
  assert.deepEqual(attention(read([stopped], [worker(0)])), []);
});

test('a device whose results were wrong is told for an hour', () => {
  const faulty = secs => worker(0, null, { faults: { count: 2, last_at: T0 + 60 - secs, last_reason: 'off the curve' } });
  const [item] = attention(read([], [faulty(60)]));
  assert.equal(item.title, 'Device fault');
  assert.equal(item.text, '2 results of it did not verify; the last: off the curve');
  assert.deepEqual(attention(read([], [faulty(4000)])), []);
});

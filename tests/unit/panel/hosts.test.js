import assert from 'node:assert/strict';
import test from 'node:test';

import { fleet, standing, summary } from '../../../proving/panel/static/panel/hosts.js';
import { rates } from '../../../proving/panel/static/panel/insight.js';
import { FOREIGN, readDocument } from '../../../proving/panel/static/panel/model.js';
import { T0, job, partition, status, worker } from './samples.js';

const helper = (name, kind, more = {}) => ({ name, kind, host: 'a', state: 'idle', last_seen_secs_ago: 1, version: '1.0', ...more });

test('a host has its devices, helpers, versions and the last sign of life of any of them', () => {
  const doc = readDocument(status([], [
    worker(0, ['j', 1], { last_seen_secs_ago: 3, version: '1.1' }),
    worker(1, null, { host: 'b10', last_seen_secs_ago: 2, version: '1.0' }),
    worker(2, null, { host: 'b9', last_seen_secs_ago: 2, version: '1.0' }),
  ], { workers: [helper('synthesis@a/1', 'synthesis', { state: 'working' }), helper('finalize@a/1', 'finalize')] }));
  const hosts = fleet(doc);
  assert.deepEqual(hosts.map(host => host.name), ['a', 'b9', 'b10']);
  const [a] = hosts;
  assert.deepEqual([a.devices.length, a.synthesis.length, a.finalize.length], [1, 1, 1]);
  assert.deepEqual(a.versions, ['1.0', '1.1']);
  assert.equal(a.lastSeenMs, 1000);
  assert.equal(summary(doc), '3 hosts, 3 devices, 2 versions');
});

test('a worker is silent when a lease has passed without a word of it, whatever the lease is', () => {
  const silent = (secs, lease) => {
    const doc = readDocument(status([], [worker(0, ['j', 1], { last_seen_secs_ago: secs })], { lease_secs: lease }));
    return standing(doc.workers[0], doc).says;
  };
  assert.equal(silent(3, 2), 'silent');
  assert.equal(silent(3, 60), 'proving');
  assert.equal(silent(11, undefined), 'silent');
});

test('what others own is load without a name', () => {
  const doc = readDocument(status([], [worker(0, null, { state: 'proving', recent: [[null, null, 1, T0, T0 + 5, 'done']] })]));
  assert.equal(doc.workers[0].job, FOREIGN);
  assert.equal(doc.workers[0].index, null);
  assert.equal(doc.workers[0].spans[0].job, FOREIGN);
});

test('the queue is counted by priority, summarized jobs included', () => {
  const doc = readDocument(status([
    job('a', [partition(0, 'pending'), partition(1, 'gpu')], { priority: 'high' }),
    job('b', [], { priority: 'low', total_partitions: 7, counts: { pending: 7 }, submitted_at: T0 + 2 }),
  ]));
  const lines = Object.fromEntries(doc.queue.map(line => [line.name, line]));
  assert.deepEqual(doc.queue.map(line => line.name), ['critical', 'high', 'normal', 'low']);
  assert.deepEqual([lines.high.pending, lines.high.waiting, lines.high.oldest], [1, 0, T0 * 1000]);
  assert.deepEqual([lines.low.pending, lines.low.oldest], [7, (T0 + 2) * 1000]);
  assert.equal(lines.critical.oldest, null);
});

test('rates are those of the last minutes, and of no more than the history tells', () => {
  const at = (T0 + 600) * 1000;
  const span = (i, outcome) => ['j', i, 1, T0 + 590 - i * 10, T0 + 595 - i * 10, outcome];
  const recent = Array.from({ length: 12 }, (_, i) => span(i, i < 2 ? 'lost' : 'done')).reverse();
  const base = { uptime_secs: 9000, generated_at: T0 + 600 };
  const found = rates(readDocument(status([], [worker(0, null, { recent })], base)), at);
  assert.deepEqual([found.perMinute, found.meanMs, found.bad, found.ended], [2, 5000, 2, 12]);
  const full = Array.from({ length: 256 }, (_, i) => ['j', i, 1, T0 + 472 + i / 2, T0 + 472.4 + i / 2, 'done']);
  const fast = rates(readDocument(status([], [worker(0, null, { recent: full })], base)), at);
  assert.equal(fast.perMinute, 256 / (128 / 60));
  assert.equal(rates(readDocument(status([], [worker(0)], base)), at), null);
});

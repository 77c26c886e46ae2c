import assert from 'node:assert/strict';
import { test } from 'node:test';

import { age, readDocument, segments, since, spans, time } from '../../../proving/panel/static/panel/model.js';
import { T0, job, partition, proving, status, waiting, worker } from './samples.js';

const ms = seconds => (T0 + seconds) * 1000;
const only = doc => doc.jobs[0].partitions[0];
const shape = list => list.map(s => [s.phase, (s.from - T0 * 1000) / 1000, (s.to - T0 * 1000) / 1000, s.lost]);

test('times are epoch seconds or ISO text; anything else is no time', () => {
  assert.equal(time(T0), T0 * 1000);
  assert.equal(time('2026-11-30T16:20:00.000Z'), Date.UTC(2026, 10, 30, 16, 20));
  for (const nothing of [null, undefined, '', 'soon', NaN]) assert.equal(time(nothing), null);
});

test('an empty document reads as empty, and nothing is made up', () => {
  const doc = readDocument({ generated_at: T0 });
  assert.deepEqual(doc.jobs, []);
  assert.deepEqual(doc.workers, []);
  assert.deepEqual(doc.hosts, []);
  assert.deepEqual(doc.counters, { completed: null, failed: null, cancelled: null, queueDepth: null, staleWrites: null, byKind: [] });
  assert.equal(doc.uptimeMs, null);
  assert.equal(doc.phases.gpu.count, 0);
});

test("cuzk's own document, without our additions, is read too", () => {
  const doc = readDocument({
    ...status([], []),
    pipelines: [{ job_id: 'j', proof_kind: 'porep-c2', started_secs_ago: 12, total_partitions: 1, partitions_done: 0,
      partitions: [{ index: 0, state: 'gpu', synth_ms: 900, gpu_ms: 4000 }] }],
    gpu_workers: [{ worker_id: 0, gpu_ordinal: 0, state: 'proving', current_job: 'j', current_partition: 0, busy_secs: 4 }],
    memory: { total_bytes: 100, used_bytes: 40, available_bytes: 60 },
  });
  assert.equal(doc.jobs[0].submitted, ms(48));
  assert.equal(doc.jobs[0].eta, null);
  assert.equal(doc.workers[0].device, 'cuda:0');
  assert.equal(doc.workers[0].spans, null);
  assert.equal(age(only(doc), doc.at + 500, doc.at), 4500);
  assert.deepEqual(segments(only(doc), doc.at), []);
  assert.equal(doc.hosts[0].memory.free, 60);
});

test('only the phase that a partition is in grows', () => {
  const doc = readDocument(status([job('j', [proving(0, T0 + 5)])]));
  assert.deepEqual(shape(segments(only(doc), ms(9))), [
    ['pending', 0, 1, false], ['synthesizing', 1, 2, false], ['synth_done', 2, 5, false], ['gpu', 5, 9, false],
  ]);
  assert.equal(since(only(doc)), ms(5));
  assert.equal(age(only(doc), ms(9), doc.at), 4000);
});

test('a partition that has ended does not grow, not even where its end was not told', () => {
  const times = { synth_started_at: T0 + 1, synth_ended_at: T0 + 2, gpu_started_at: T0 + 3 };
  const failed = readDocument(status([job('j', [partition(0, 'failed', { ...times, finished_at: T0 + 6 })])]));
  assert.deepEqual(shape(segments(only(failed), ms(99))).at(-1), ['gpu', 3, 6, false]);
  assert.equal(age(only(failed), ms(99), failed.at), 6000);
  const untold = readDocument(status([job('j', [partition(0, 'failed', times)])]));
  assert.deepEqual(shape(segments(only(untold), ms(99))).at(-1), ['synth_done', 2, 3, false]);
  assert.equal(age(only(untold), ms(99), untold.at), null);
});

test('a lost attempt stays on the lane before the next one, and shared phases are drawn once', () => {
  const synth = { synth_started_at: T0 + 1, synth_ended_at: T0 + 2, wait_started_at: T0 + 2 };
  const history = [{ ...synth, attempt: 1, gpu_started_at: T0 + 3, ended_at: T0 + 5, error: 'lease ran out', worker: 'gpu0@a' }];
  const doc = readDocument(status([job('j', [
    partition(0, 'gpu', { ...synth, wait_started_at: T0 + 5, gpu_started_at: T0 + 7 }, { attempt: 2, history }),
  ])]));
  assert.deepEqual(shape(segments(only(doc), ms(9))), [
    ['synthesizing', 1, 2, false], ['synth_done', 2, 3, false], ['gpu', 3, 5, true],
    ['synth_done', 5, 7, false], ['gpu', 7, 9, false],
  ]);
});

test('two lost attempts that share a synthesis lie one behind the other', () => {
  const synth = { queued_at: T0, synth_started_at: T0 + 1, synth_ended_at: T0 + 2 };
  const history = [
    { ...synth, attempt: 1, outcome: 'lost', gpu_started_at: T0 + 3, ended_at: T0 + 5 },
    { ...synth, attempt: 2, outcome: 'lost', gpu_started_at: T0 + 6, ended_at: T0 + 7 },
  ];
  const doc = readDocument(status([job('j', [
    partition(0, 'gpu', { ...synth, wait_started_at: T0 + 7, gpu_started_at: T0 + 8 }, { attempt: 3, history }),
  ])]));
  assert.deepEqual(shape(segments(only(doc), ms(9))), [
    ['pending', 0, 1, false], ['synthesizing', 1, 2, false], ['synth_done', 2, 3, false], ['gpu', 3, 5, true],
    ['synth_done', 5, 6, false], ['gpu', 6, 7, true], ['synth_done', 7, 8, false], ['gpu', 8, 9, false],
  ]);
});

test('a lost finalizer is followed by the next one', () => {
  const kept = { queued_at: T0, synth_started_at: T0 + 1, synth_ended_at: T0 + 2, gpu_started_at: T0 + 3, gpu_ended_at: T0 + 4 };
  const history = [{ ...kept, attempt: 1, outcome: 'lost', phase: 'finalizing', ended_at: T0 + 6 }];
  const doc = readDocument(status([job('j', [partition(0, 'finalizing', kept, { attempt: 2, history })])]));
  assert.deepEqual(shape(segments(only(doc), ms(9))).slice(3), [
    ['gpu', 3, 4, false], ['finalizing', 4, 6, true], ['finalizing', 6, 9, false],
  ]);
});

test("a worker's live assignment closes its history; without one nothing is added", () => {
  const recent = [['j', 3, 1, T0 + 1, T0 + 4, 'done']];
  const doc = readDocument(status([], [worker(0, ['j', 4], { recent }), worker(1, null, { recent })]));
  const [busy, idle] = doc.workers.map(w => spans(w, ms(61), doc.at));
  assert.deepEqual(busy.map(s => [s.index, s.from, s.to]), [[3, ms(1), ms(4)], [4, ms(57), ms(61)]]);
  assert.deepEqual(idle.map(s => s.index), [3]);
});

test('counts and oldest ages by phase', () => {
  const doc = readDocument(status([job('j', [waiting(0, T0 + 30), waiting(1, T0 + 20), proving(2, T0 + 40)])]));
  assert.deepEqual(doc.phases.synth_done, { count: 2, oldest: ms(20) });
  assert.equal(doc.partitionCount, 3);
});

test('a job sent as a number counts its partitions as pending', () => {
  const doc = readDocument(status([{ job_id: 'j', total_partitions: 16, partitions_done: 0 }]));
  assert.equal(doc.phases.pending.count, 16);
  assert.equal(doc.jobs[0].ended, false);
});

test('refused writes may come as a number or by operation', () => {
  const read = value => readDocument(status([], [], { counters: { stale_writes_total: value } })).counters.staleWrites;
  assert.equal(read(7), 7);
  assert.equal(read({ finish: 2, heartbeat: 3 }), 5);
});

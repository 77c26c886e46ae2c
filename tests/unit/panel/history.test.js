import assert from 'node:assert/strict';
import test from 'node:test';

import { History, matches } from '../../../proving/panel/static/panel/history.js';
import { readDocument } from '../../../proving/panel/static/panel/model.js';
import { status } from './samples.js';

const ALL = { ended: 'all', sought: '' };
const doc = completed => readDocument(status([], [], { counters: { total_completed: completed, total_failed: 0, total_cancelled: 0 } }));
const row = (id, state, more = {}) => ({
  job_id: id, label: '', circuit_id: 'c1', circuit_name: 'adder', proof_kind: 'groth16', state, total_partitions: 2,
  partitions_done: 2, submitted_at: '2026-11-30T12:00:00Z', finished_at: '2026-11-30T12:00:09.500Z', error: null, ...more,
});

function served(answer) {
  const clock = { now: 0 };
  const asked = [];
  const history = new History('/history', {
    now: () => clock.now,
    fetch: async url => {
      asked.push(url);
      const { status: code, body } = answer();
      return { ok: code === 200, status: code, json: async () => body };
    },
  });
  return { clock, asked, history };
}

const one = () => ({ status: 200, body: { finished: [row('a', 'done')], failures: [] } });

test('it asks when a counter has moved, once more a little later, and then rests', async () => {
  const { clock, asked, history } = served(one);
  await history.follow(doc(0), ALL);
  assert.equal(asked.length, 1);
  await history.follow(doc(0), ALL);
  assert.equal(asked.length, 1);
  clock.now = 3000;
  await history.follow(doc(0), ALL);
  assert.equal(asked.length, 2);
  clock.now = 20_000;
  await history.follow(doc(0), ALL);
  assert.equal(asked.length, 2);
  await history.follow(doc(1), ALL);
  assert.equal(asked.length, 3);
});

test('rows become values: how long it took, and why it failed', async () => {
  const error = { code: 'proof_invalid', detail: 'it does not verify', partition: 1 };
  const { history } = served(() => ({ status: 200, body: { finished: [row('a', 'failed', { error })], failures: [] } }));
  await history.follow(doc(0), ALL);
  const [job] = history.finished;
  assert.equal(job.tookMs, 9500);
  assert.deepEqual(job.error, { partition: 1, code: 'proof_invalid', text: 'it does not verify' });
});

test('an answer that does not come leaves what was known, and is told', async () => {
  let code = 200;
  const { history } = served(() => ({ ...one(), status: code }));
  await history.follow(doc(0), ALL);
  code = 503;
  await history.follow(doc(1), ALL);
  assert.equal(history.finished.length, 1);
  assert.equal(history.fault, 'it answers 503');
  code = 200;
  await history.follow(doc(2), ALL);
  assert.equal(history.fault, null);
});

test('a filter is asked of the server, too', async () => {
  const { asked, history } = served(one);
  await history.follow(doc(0), { ended: 'failed', sought: ' sector 4711 ' });
  assert.equal(asked[0], '/history?limit=200&state=failed&text=sector+4711');
});

test('a job is found by its id, its label or its circuit', () => {
  const job = { id: 'ps-snap-1000-1-4711', label: 'f01000 Sector 4711', circuit: 'snap-32g', state: 'done' };
  for (const sought of ['1-4711', 'SECTOR', 'snap-32', '']) assert.ok(matches(job, { ended: 'all', sought }), sought);
  assert.ok(!matches(job, { ended: 'all', sought: '4712' }));
  assert.ok(!matches(job, { ended: 'failed', sought: '' }));
});

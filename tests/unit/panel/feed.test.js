import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Feed } from '../../../proving/panel/static/panel/feed.js';
import { T0, status } from './samples.js';

/** A feed over answers that the test lines up, and a clock that it turns. */
function stage(...answers) {
  const sent = [];
  const clock = { ms: 5000 };
  const fetch = async (url, options) => {
    sent.push(options.headers['If-None-Match'] ?? null);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { feed: new Feed('/status', { fetch, now: () => clock.ms }), clock, sent };
}

const full = (seconds, etag = '"7"') => Response.json(status([], [], { generated_at: T0 + seconds }), { headers: { ETag: etag } });
const unchanged = () => new Response(null, { status: 304 });
const problem = (code, body) => Response.json(body, { status: code });

test('before the first document there is no moment', async () => {
  const { feed } = stage(new TypeError('refused'));
  assert.equal(feed.moment(), null);
  await feed.poll();
  assert.equal(feed.moment(), null);
  assert.equal(feed.fault.text, 'The status endpoint cannot be reached.');
});

test('server time is carried forward by the local monotonic clock', async () => {
  const { feed, clock } = stage(full(0));
  await feed.poll();
  clock.ms += 1500;
  const { now, at, state } = feed.moment();
  assert.deepEqual([now, at, state], [T0 * 1000 + 1500, T0 * 1000 + 1500, 'live']);
});

test('silence makes it stale, then lost, and freezes what is known at the last answer', async () => {
  const { feed, clock } = stage(full(0));
  await feed.poll();
  clock.ms += 4000;
  assert.equal(feed.moment().state, 'live');
  assert.equal(feed.moment().at, T0 * 1000 + 2000);
  clock.ms += 1001;
  assert.equal(feed.moment().state, 'stale');
  assert.equal(feed.moment().at, T0 * 1000);
  assert.equal(feed.moment().now, T0 * 1000 + 5001);
  clock.ms += 10_000;
  assert.equal(feed.moment().state, 'lost');
});

test('304 confirms the document; ages in it are refreshed by a full answer now and then', async () => {
  const answers = [full(0), ...Array.from({ length: 5 }, unchanged), full(6)];
  const { feed, clock, sent } = stage(...answers);
  for (const _ of answers) {
    await feed.poll();
    clock.ms += 1000;
  }
  assert.equal(feed.moment().state, 'live');
  assert.equal(sent[0], null);
  const conditional = sent.filter(tag => tag === '"7"').length;
  assert.ok(conditional >= 4 && conditional < sent.length - 1, `${sent}`);
});

test('the same document again, whole, is no news', async () => {
  const { feed, clock } = stage(full(0), full(0));
  await feed.poll();
  clock.ms += 6000;
  await feed.poll();
  assert.equal(feed.moment().state, 'stale');
});

test('faults say what the endpoint said, slow the polling down and pass with the next answer', async () => {
  const { feed } = stage(full(0), problem(503, { detail: 'live state cannot be read' }), problem(502, {}), full(1));
  await feed.poll();
  assert.equal(feed.pause, 1000);
  await feed.poll();
  assert.equal(feed.fault.text, 'The status endpoint answers 503: live state cannot be read.');
  await feed.poll();
  assert.equal(feed.fault.text, 'The status endpoint answers 502.');
  assert.equal(feed.pause, 2000);
  await feed.poll();
  assert.equal(feed.fault, null);
  assert.equal(feed.pause, 1000);
});

test('a session that ended is told at once', async () => {
  const { feed } = stage(full(0), problem(401, {}));
  await feed.poll();
  await feed.poll();
  assert.equal(feed.fault.signedOut, true);
  assert.equal(feed.moment().state, 'lost');
});

test('what is no status document is a fault, and the last true one stays', async () => {
  const { feed } = stage(full(0), Response.json({ hello: 'world' }));
  await feed.poll();
  await feed.poll();
  assert.equal(feed.doc.at, T0 * 1000);
  assert.equal(feed.fault.text, 'The status endpoint sent no status document.');
});

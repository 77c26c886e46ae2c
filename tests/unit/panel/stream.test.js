import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Feed } from '../../../proving/panel/static/panel/feed.js';
import { Stream } from '../../../proving/panel/static/panel/stream.js';
import { T0, status } from './samples.js';

/** A stream whose server the test plays, and a clock that it turns. */
function stage() {
  const clock = { ms: 5000 };
  const opened = [];
  class Source extends EventTarget {
    readyState = 1;
    closed = false;
    constructor(url) {
      super();
      this.url = url;
      opened.push(this);
    }
    close() {
      this.closed = true;
    }
    say(name, data, lastEventId = '') {
      this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data), lastEventId }));
    }
  }
  const feed = new Feed('/status', { now: () => clock.ms });
  const stream = new Stream('/stream', (...event) => feed.hear(...event), { Source, now: () => clock.ms });
  return { clock, feed, stream, opened };
}

const at = seconds => status([], [], { generated_at: T0 + seconds });

test('a document is taken, a beat confirms it, silence hands over to polling', () => {
  const { clock, feed, stream, opened } = stage();
  stream.open();
  stream.open();
  assert.equal(opened.length, 1);
  assert.equal(opened[0].url, '/stream?beat=2');
  assert.equal(stream.alive, false);
  opened[0].say('status', at(0), '7');
  assert.equal(stream.alive, true);
  clock.ms += 4400;
  opened[0].say('beat', { id: '7' });
  clock.ms += 4400;
  assert.equal(stream.alive, true);
  assert.equal(feed.moment().state, 'live');
  clock.ms += 200;
  assert.equal(stream.alive, false);
});

test('a fault is told and does not count as life', () => {
  const { feed, stream, opened } = stage();
  stream.open();
  opened[0].say('fault', { status: 503, detail: 'no server' });
  assert.equal(stream.alive, false);
  assert.equal(feed.fault.text, 'The status endpoint answers 503: no server.');
  opened[0].say('status', at(0), '7');
  assert.equal(feed.fault, null);
});

test('an end closes it; so does a refusal; a break that passes does not', () => {
  const { stream, opened } = stage();
  stream.open();
  opened[0].readyState = 0;
  opened[0].dispatchEvent(new Event('error'));
  assert.equal(opened[0].closed, false);
  opened[0].say('end', { status: 401 });
  assert.equal(opened[0].closed, true);
  stream.open();
  opened[1].readyState = 2;
  opened[1].dispatchEvent(new Event('error'));
  assert.equal(opened[1].closed, true);
});

test('what is no document is a fault', () => {
  const { feed, stream, opened } = stage();
  stream.open();
  opened[0].say('status', { odd: true }, '7');
  assert.equal(feed.fault.text, 'The status stream sent no status document.');
});

test('without an address or a browser that can, nothing is opened', () => {
  new Stream('', () => {}, { Source: null }).open();
  const { opened } = stage();
  assert.equal(opened.length, 0);
});

import assert from 'node:assert/strict';
import test from 'node:test';

import { readDocument } from '../../../proving/panel/static/panel/model.js';
import { panned, picked, spanOf, zoomed } from '../../../proving/panel/static/panel/span.js';
import { T0, job, partition, status } from './samples.js';

const NOW = (T0 + 60) * 1000;
const moment = { now: NOW, at: NOW };
const asked = more => ({ view: 'jobs', window: 'auto', zoom: null, ...more });
const doc = readDocument(status([job('a', [partition(0, 'pending')])]));
const end = ({ start, length }) => start + length;

test('the window that follows holds every live job and moves on with time', () => {
  const span = spanOf(doc, moment, asked());
  assert.ok(span.start < T0 * 1000);
  assert.equal(span.length, 120_000); // a job of 60 s needs more than 0.7 of a minute
  assert.equal(spanOf(doc, { now: NOW + 5000, at: NOW }, asked()).start, span.start + 5000);
});

test('a chosen window is as long as it says', () => {
  assert.equal(spanOf(doc, moment, asked({ window: '15' })).length, 900_000);
});

test('room for the future is kept only where something is expected', () => {
  const share = span => (NOW - span.start) / span.length;
  assert.equal(share(spanOf(doc, moment, asked())), 0.95);
  const expecting = readDocument(status([job('a', [partition(0, 'pending')], { eta_at: T0 + 90 })]));
  assert.equal(share(spanOf(expecting, moment, asked())), 0.72);
});

test('zooming keeps the time under the pointer where it is', () => {
  const span = spanOf(doc, moment, asked());
  const share = 0.25;
  const under = s => s.start + share * s.length;
  const closer = spanOf(doc, moment, asked({ zoom: zoomed(span, 0.5, NOW, share) }));
  assert.equal(closer.length, span.length / 2);
  assert.equal(under(closer), under(span));
});

test('zooming without a pointer goes on following now, until the reader has picked a stretch', () => {
  const span = spanOf(doc, moment, asked());
  assert.deepEqual(zoomed(span, 0.5, NOW), { length: span.length / 2, end: null });
  const fixed = spanOf(doc, moment, asked({ zoom: picked(span, 0.2, 0.4, NOW) }));
  assert.notEqual(zoomed(fixed, 0.5, NOW).end, null);
});

test('what was picked is what is shown, in either direction of the drag, and it stands still', () => {
  const span = spanOf(doc, moment, asked());
  const zoom = picked(span, 0.6, 0.1, NOW);
  assert.deepEqual(zoom, picked(span, 0.1, 0.6, NOW));
  const shown = spanOf(doc, { now: NOW + 60_000, at: NOW }, asked({ zoom }));
  assert.equal(Math.round(shown.start), Math.round(span.start + 0.1 * span.length));
  assert.equal(Math.round(end(shown)), Math.round(span.start + 0.6 * span.length));
});

test('nobody gets lost in the future, in a moment too short to see, or in a stretch too long', () => {
  const span = spanOf(doc, moment, asked());
  const far = panned(span, 50, NOW);
  assert.ok(far.end <= NOW + 0.29 * span.length);
  assert.equal(zoomed(span, 1e-9, NOW).length, 1000);
  assert.equal(zoomed(span, 1e9, NOW).length, 6 * 3600_000);
  assert.equal(picked(span, 0.5, 0.5, NOW).length, 1000);
});

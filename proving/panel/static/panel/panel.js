// The status page: one document in, one calm page out. It keeps no state but what the reader chose.

import { Feed } from './feed.js';
import { Stream } from './stream.js';
import { plural } from './text.js';
import { $, attr, put, show } from './dom.js';
import { readPalette } from './canvas.js';
import { choices, remember } from './choices.js';
import { drawTimeline } from './rows.js';
import { listen } from './reading.js';
import {
  drawAttention, drawConnection, drawCounters, drawDevices, drawHelpers, drawMemory, drawPhases, drawUnread,
  drawVerdict,
} from './overview.js';

const REDRAW_MS = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 500;

const feed = new Feed(document.body.dataset.status);
const root = document.documentElement;
/** A page that was out of sight says nothing about the connection before it has asked again. */
const WAKING_MS = 2000;

let timer = null;
let frame = null;
let polling = false;
let wakingUntil = 0;

function draw() {
  if (document.hidden || performance.now() < wakingUntil) return;
  const moment = feed.moment();
  if (!moment) {
    if (feed.fault) drawUnread(feed.fault);
    return;
  }
  const { doc } = feed;
  drawConnection(feed, moment);
  drawVerdict(doc, moment);
  drawPhases(doc, moment);
  drawAttention(doc);
  drawDevices(doc, moment);
  drawHelpers(doc);
  drawMemory(doc, moment);
  drawCounters(doc);
  put($('.bar'), 'jobcount', plural(doc.jobs.length, 'job'));
  const blank = choices.view === 'jobs' && doc.jobs.length === 0;
  show($('#blank'), blank);
  show($('.axis'), !blank);
  attr(document.body, 'data-ready', '');
  drawTimeline(doc, moment);
}

function drawSoon() {
  frame ??= requestAnimationFrame(() => {
    frame = null;
    draw();
  });
}

const stream = new Stream(document.body.dataset.stream, (...event) => {
  feed.hear(...event);
  wakingUntil = 0;
  draw();
});

async function follow() {
  if (polling) return;
  polling = true;
  clearTimeout(timer);
  if (!stream.alive) await feed.poll();
  polling = false;
  wakingUntil = 0;
  draw();
  if (!document.hidden) timer = setTimeout(follow, feed.pause);
}

function onVisibility() {
  if (document.hidden) {
    stream.close();
    return;
  }
  stream.open();
  wakingUntil = performance.now() + WAKING_MS;
  follow();
}

function recolour() {
  readPalette();
  draw();
}

const THEMES = ['auto', 'light', 'dark'];

const theme = () => root.dataset.theme ?? 'auto';

function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  if (next === 'auto') delete root.dataset.theme;
  else root.dataset.theme = next;
  remember('theme', next === 'auto' ? null : next);
  put($('.top'), 'theme', next);
  recolour();
}

function choose(name) {
  const group = $(`#${name}`);
  for (const input of group.querySelectorAll('input')) input.checked = input.value === choices[name];
  group.addEventListener('change', event => {
    choices[name] = event.target.value;
    remember(name, event.target.value);
    draw();
  });
}

function start() {
  choose('view');
  choose('window');
  put($('.top'), 'theme', theme());
  readPalette();
  listen(draw, () => feed.moment());
  $('#theme').addEventListener('click', nextTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
  for (const name of ['scroll', 'resize']) addEventListener(name, drawSoon, { passive: true });
  document.addEventListener('visibilitychange', onVisibility);
  setInterval(draw, REDRAW_MS);
  follow();
  if (!document.hidden) stream.open();
}

start();

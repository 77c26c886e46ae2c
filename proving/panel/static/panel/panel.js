// The status page: one document in, one calm page out. It keeps no state but what the reader chose.

import { Feed } from './feed.js';
import { Stream } from './stream.js';
import { History } from './history.js';
import { ago, plural } from './text.js';
import { $, attr, fill, put, show } from './dom.js';
import { readPalette } from './canvas.js';
import { choices, remember } from './choices.js';
import { summary } from './hosts.js';
import { drawTimeline, onScroll, setPrinting } from './rows.js';
import { listen } from './reading.js';
import { drawZoom, listenZoom } from './zooming.js';
import { drawAttention, drawConnection, drawPhases, drawUnread, drawVerdict } from './overview.js';
import { drawDevices, drawHelpers } from './devices.js';
import { drawMemory } from './memory.js';
import { drawCounters, drawQueue, drawRates } from './counters.js';
import { drawPast, listenPast } from './past.js';

const REDRAW_MS = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 500;

const feed = new Feed(document.body.dataset.status);
const history = new History(document.body.dataset.history);
const root = document.documentElement;
/** A page that was out of sight says nothing about the connection before it has asked again. */
const WAKING_MS = 2000;

let timer = null;
let frame = null;
let wholly = false;
let polling = false;
let wakingUntil = 0;
let blankOpened = false;

/** Nothing live: a service that was never used says how to begin, another one since when it rests. */
function drawBlank(doc, { now }) {
  const blank = choices.view === 'jobs' && doc.jobs.length === 0;
  show($('#blank'), blank);
  show($('.axis'), !blank && choices.view !== 'hosts');
  if (!blank) return;
  const { completed, failed, cancelled } = doc.counters;
  const first = !completed && !failed && !cancelled && !history.finished?.length;
  const last = history.finished?.[0]?.ended;
  fill($('#blank'), {
    title: first ? 'No jobs yet' : 'No live jobs',
    text: first
      ? 'A job appears here the moment it is accepted. Register a circuit once, then submit inputs; each input becomes a partition with its own proof.'
      : `A job appears here the moment it is accepted.${last == null ? '' : ` The last one ended ${ago(now - last)}.`}`,
  });
  if (first && !blankOpened) $('#howto').open = true;
  blankOpened ||= first;
}

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
  drawQueue(doc, moment);
  drawMemory(doc, moment);
  drawCounters(doc);
  drawRates(doc, moment);
  drawPast(history, moment);
  put($('.bar'), 'what', choices.view === 'hosts' ? 'Hosts' : 'Timeline');
  put($('.bar'), 'jobcount', choices.view === 'jobs' ? plural(doc.jobs.length, 'job') : summary(doc));
  drawZoom();
  drawBlank(doc, moment);
  attr(document.body, 'data-ready', '');
  drawTimeline(doc, moment);
  history.follow(doc, choices).then(news => news && drawSoon(true));
}

/** Before the next frame, once however often it is asked: all of the page, or only rows that came into sight. */
function drawSoon(all) {
  wholly ||= all;
  frame ??= requestAnimationFrame(() => {
    const whole = wholly;
    frame = null;
    wholly = false;
    if (whole) draw();
    else onScroll();
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

function onPrint(yes) {
  setPrinting(yes);
  if (yes) {
    root.dataset.printing = root.dataset.theme ?? 'auto';
    root.dataset.theme = 'light';
  } else {
    if (root.dataset.printing === 'auto') delete root.dataset.theme;
    else root.dataset.theme = root.dataset.printing;
    delete root.dataset.printing;
  }
  recolour();
}

function choose(name) {
  const group = $(`#${name}`);
  for (const input of group.querySelectorAll('input')) input.checked = input.value === choices[name];
  group.addEventListener('change', event => {
    choices[name] = event.target.value;
    if (name === 'window') choices.zoom = null;
    remember(name, event.target.value);
    draw();
  });
}

function start() {
  choose('view');
  choose('window');
  choose('ended');
  put($('.top'), 'theme', theme());
  readPalette();
  listen(draw, () => feed.moment());
  listenZoom(draw, () => feed.moment());
  listenPast(draw);
  $('#theme').addEventListener('click', nextTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
  addEventListener('scroll', () => drawSoon(false), { passive: true });
  addEventListener('resize', () => drawSoon(true), { passive: true });
  addEventListener('beforeprint', () => onPrint(true));
  addEventListener('afterprint', () => onPrint(false));
  document.addEventListener('visibilitychange', onVisibility);
  setInterval(draw, REDRAW_MS);
  follow();
  if (!document.hidden) stream.open();
}

start();

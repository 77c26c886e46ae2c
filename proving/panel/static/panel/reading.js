// Pointing, keys, copying: how the page is read closely.

import { NAMES, PHASES } from './model.js';
import { attemptStory } from './insight.js';
import { $, attr, field, fill, icon, keyed, show } from './dom.js';
import { choices, remember } from './choices.js';
import { clock, duration } from './text.js';
import { deviceSpanAt } from './lanes.js';
import { keyOf, partitionAt, phaseLengths, placeOf, rowOf, timeAt } from './rows.js';
import { cancelDrag, dragging, pan, unzoom, zoomIn, zoomOut } from './zooming.js';

/** What covers the top of the window while the page is scrolled: bar, axis, and some air. */
const HEADROOM = 96;

let redraw = () => {};
let momentNow = () => null;

export function pick(phase) {
  choices.phase = choices.phase === phase ? null : phase;
  redraw();
}

function toggle(key) {
  if (!choices.open.delete(key)) choices.open.add(key);
  redraw();
}

async function copy(id) {
  try {
    await navigator.clipboard.writeText(id);
    $('#say').textContent = `Copied ${id}`;
  } catch {
    // outside a secure context there is no clipboard: select the id, so that the copy key does it
    const shown = [...document.querySelectorAll('.row .id')].find(node => node.title === id);
    if (shown) getSelection().selectAllChildren(shown);
    $('#say').textContent = `Selected ${id}`;
  }
}

function attemptWords(p) {
  if (p.attempt == null) return '';
  return p.maxAttempts == null ? ` · attempt ${p.attempt}` : ` · attempt ${p.attempt} of ${p.maxAttempts}`;
}

/** The tip's table: a name, a length, and from when to when. `here` is the line that is pointed at. */
function putTimes(tip, lines, here) {
  keyed(field(tip, 'times'), lines, l => l.key, () => document.createElement('div'), (node, l) => {
    if (!node.firstChild) node.append(...['dt', 'dd', 'dd'].map(name => document.createElement(name)));
    const texts = [l.name, l.length, `${clock(l.from)} – ${clock(l.to)}`];
    texts.forEach((text, i) => {
      if (node.children[i].textContent !== text) node.children[i].textContent = text;
    });
    attr(node, 'data-here', l === here ? '' : null);
  });
}

function place(tip, x, y) {
  show(tip, true);
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  const below = y + 14 + tip.offsetHeight <= innerHeight - 8;
  tip.style.top = `${Math.max(8, below ? y + 14 : y - 14 - tip.offsetHeight)}px`;
}

function showTip(job, p, x, y, at = null) {
  const tip = $('#tip');
  icon(tip, p.state);
  const lengths = phaseLengths(p, momentNow().at);
  putTimes(tip, lengths, lengths.find(l => at != null && l.from <= at && at < l.to));
  const earlier = p.past.at(-1);
  fill(tip, {
    title: `P${p.index} · ${NAMES[p.state] ?? p.state}${attemptWords(p)}`,
    who: [job.id, job.circuitName, p.worker].filter(Boolean).join(' · '),
    why: p.error ?? (earlier ? attemptStory(earlier) : ''),
  });
  attr(field(tip, 'why'), 'data-tone', p.error ? 'bad' : null);
  place(tip, x, y);
}

const SPAN_ENDS = { done: 'Proved', failed: 'Failed', lost: 'Lost', released: 'Handed back', cancelled: 'Cancelled' };

function showSpan(worker, span, x, y) {
  const tip = $('#tip');
  const bad = span.outcome === 'failed' || span.outcome === 'lost';
  icon(tip, bad ? 'failed' : 'gpu');
  const line = { key: 'span', name: 'Device', length: duration(span.to - span.from), from: span.from, to: span.to };
  putTimes(tip, [line], null);
  const attempt = span.attempt == null ? '' : ` · attempt ${span.attempt}`;
  const index = span.index == null ? '' : `P${span.index} · `;
  fill(tip, {
    title: `${index}${span.open ? 'Proving' : (SPAN_ENDS[span.outcome] ?? span.outcome)}${attempt}`,
    who: [span.job, worker.name].filter(Boolean).join(' · '),
    why: '',
  });
  place(tip, x, y);
}

const hideTip = () => show($('#tip'), false);

/** What lies under the pointer in a row's plot, told beside it. */
function point(row, event) {
  const { offsetX: x, offsetY: y, clientX, clientY, target } = event;
  const t = timeAt(x, target.clientWidth);
  if (row.worker) {
    const { at } = momentNow();
    const span = deviceSpanAt(row.worker, t, at, row.readAt);
    if (span) showSpan(row.worker, span, clientX, clientY);
    return Boolean(span);
  }
  const p = partitionAt(row, x, y, target.clientWidth);
  if (p) showTip(row.job, p, clientX, clientY, row.wide ? null : t);
  return Boolean(p);
}

function onPoint(event) {
  const row = event.target.matches?.('.plot') ? rowOf(event.target) : null;
  if (dragging() || !row || !point(row, event)) hideTip();
}

/** A hand-made selection of a short id copies the whole id. */
function onCopy(event) {
  const { anchorNode, focusNode } = getSelection();
  const start = anchorNode?.closest ? anchorNode : anchorNode?.parentElement;
  const id = start?.closest('.id');
  if (!id?.contains(focusNode)) return;
  event.clipboardData.setData('text/plain', id.title);
  event.preventDefault();
}

/** Arrow keys walk the partitions of the focused lanes. */
function step(canvas, row, delta) {
  const list = row.job.partitions;
  if (!list.length) return;
  const box = canvas.getBoundingClientRect();
  const i = Math.min(list.length - 1, Math.max(0, Number(canvas.dataset.at ?? -1) + delta));
  canvas.dataset.at = i;
  const y = row.wide ? box.bottom - 20 : box.top + row.firstLane + i * row.pitch;
  showTip(row.job, list[i], box.left + 20, y);
  $('#say').textContent = $('#tip').innerText;
}

function chooseNext(name) {
  const options = [...document.querySelectorAll(`[name=${name}]`)];
  options[(options.findIndex(option => option.checked) + 1) % options.length].click();
}

function moveFocus(delta) {
  const stopOf = row => row.querySelector(row.dataset.kind ? '.plot' : '.toggle');
  const stops = [...document.querySelectorAll('.row')].map(stopOf);
  const here = stops.findIndex(stop => stop.closest('.row').contains(document.activeElement));
  stops[Math.max(0, Math.min(here + delta, stops.length - 1))]?.focus();
}

/** Keys that act only where they are focused need no switch. */
const ALWAYS = new Set(['Enter', 'Escape', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Tab']);

function clear() {
  if (dragging()) cancelDrag();
  else if (choices.phase) pick(null);
  else unzoom();
}

function onKey(event) {
  if (event.target.matches('input:not([type=radio]), textarea, select')) return;
  if (event.ctrlKey || event.metaKey || event.altKey || $('#help').open) return;
  if (!choices.shortcuts && !ALWAYS.has(event.key)) return;
  const focused = document.activeElement;
  const row = rowOf(focused);
  const onPlot = focused.matches('.plot') && row;
  const onLanes = onPlot && row.job;
  const actions = {
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    v: () => chooseNext('view'),
    w: () => chooseNext('window'),
    c: () => row && copy(row.key),
    '+': zoomIn,
    '=': zoomIn,
    '-': zoomOut,
    0: unzoom,
    '?': () => $('#help').showModal(),
    ArrowDown: () => onLanes && step(focused, row, 1),
    ArrowUp: () => onLanes && step(focused, row, -1),
    ArrowLeft: () => onPlot && pan(-1),
    ArrowRight: () => onPlot && pan(1),
    Enter: () => onLanes && toggle(row.key),
    Escape: clear,
  };
  const phase = PHASES[Number(event.key) - 1];
  if (event.key.startsWith('Arrow')) {
    if (onPlot) event.preventDefault();
  } else {
    hideTip();
  }
  if (phase) pick(phase);
  else actions[event.key]?.();
}

function onClick(event) {
  const row = rowOf(event.target);
  if (!row?.job) return;
  if (event.target.closest('.copy')) copy(row.key);
  else if (event.target.closest('.head') && getSelection().isCollapsed) toggle(keyOf(event.target));
}

/** Leads to a live job: its row is opened and brought into view. */
function onGoTo(event) {
  const job = event.target.closest('.goto')?.dataset.job;
  if (job == null) return;
  choose('view', 'jobs');
  choices.open.add(job);
  redraw();
  const y = placeOf(job);
  if (y != null) scrollTo({ top: scrollY + $('#jobs').getBoundingClientRect().top + y - HEADROOM });
  redraw();
  document.querySelector(`.row[data-key="${CSS.escape(job)}"] .toggle`)?.focus({ preventScroll: true });
}

function choose(name, value) {
  const input = document.querySelector(`[name=${name}][value=${value}]`);
  if (!input.checked) input.click();
}

function listenSwitch() {
  const input = $('#shortcuts');
  input.checked = choices.shortcuts;
  input.addEventListener('change', () => {
    choices.shortcuts = input.checked;
    remember('shortcuts', input.checked ? null : 'off');
  });
}

export function listen(draw, moment) {
  redraw = draw;
  momentNow = moment;
  for (const name of ['pointermove', 'pointerdown']) document.addEventListener(name, onPoint, { passive: true });
  document.addEventListener('keydown', onKey);
  document.addEventListener('copy', onCopy);
  addEventListener('scroll', hideTip, { passive: true });
  $('#jobs').addEventListener('click', onClick);
  $('#flow').addEventListener('click', event => {
    const tile = event.target.closest('li');
    if (tile) pick(tile.dataset.key);
  });
  $('#help-open').addEventListener('click', () => $('#help').showModal());
  document.addEventListener('click', onGoTo);
  $('#devices-more').addEventListener('click', () => {
    choose('view', 'hosts');
    $('#timeline').scrollIntoView();
  });
  listenSwitch();
}

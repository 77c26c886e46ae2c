// Pointing, keys, copying: how the page is read closely.

import { NAMES, PHASES } from './model.js';
import { attemptStory } from './insight.js';
import { $, attr, field, fill, icon, keyed, show } from './dom.js';
import { choices } from './choices.js';
import { keyOf, partitionAt, phaseLengths, rowOf } from './rows.js';

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

function showTip(job, p, x, y) {
  const tip = $('#tip');
  icon(tip, p.state);
  const lengths = phaseLengths(p, momentNow().at);
  keyed(field(tip, 'times'), lengths, l => l.key, () => document.createElement('div'), (node, l) => {
    if (!node.firstChild) node.append(document.createElement('dt'), document.createElement('dd'));
    node.firstChild.textContent = l.name;
    node.lastChild.textContent = l.length;
  });
  const earlier = p.past.at(-1);
  fill(tip, {
    title: `P${p.index} · ${NAMES[p.state] ?? p.state}${attemptWords(p)}`,
    who: [job.id, p.worker].filter(Boolean).join(' · '),
    why: p.error ?? (earlier ? attemptStory(earlier) : ''),
  });
  attr(field(tip, 'why'), 'data-tone', p.error ? 'bad' : null);
  show(tip, true);
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(8, Math.min(y + 14, innerHeight - tip.offsetHeight - 8))}px`;
}

const hideTip = () => show($('#tip'), false);

function onPoint(event) {
  const row = event.target.matches?.('.plot') ? rowOf(event.target) : null;
  const p = row?.job && partitionAt(row, event.offsetX, event.offsetY, event.target.clientWidth);
  if (p) showTip(row.job, p, event.clientX, event.clientY);
  else hideTip();
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

function onKey(event) {
  if (event.target.matches('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
  if ($('#help').open) return;
  const focused = document.activeElement;
  const row = rowOf(focused);
  const onLanes = focused.matches('.plot') && row?.job;
  const actions = {
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    v: () => chooseNext('view'),
    w: () => chooseNext('window'),
    c: () => row && copy(row.key),
    '?': () => $('#help').showModal(),
    ArrowDown: () => onLanes && step(focused, row, 1),
    ArrowUp: () => onLanes && step(focused, row, -1),
    Enter: () => onLanes && toggle(row.key),
    Escape: () => choices.phase && pick(null),
  };
  const phase = PHASES[Number(event.key) - 1];
  if (event.key.startsWith('Arrow')) {
    if (onLanes) event.preventDefault();
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
}

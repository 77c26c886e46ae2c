// The hand on the axis: drag to pick a stretch of time, wheel to zoom, buttons and keys for both.

import { clock, duration, fineClock } from './text.js';
import { $, put, show } from './dom.js';
import { choices } from './choices.js';
import { shownSpan } from './rows.js';
import { panned, picked, zoomed } from './span.js';

const STEP = 2;
const LEAST_DRAG = 6; // pixels
const PAN = 0.2;

let redraw = () => {};
let momentNow = () => null;
let drag = null;

function set(zoom) {
  choices.zoom = zoom;
  redraw();
}

const now = () => momentNow()?.now ?? 0;

export function zoomBy(factor, share = null) {
  if (shownSpan()) set(zoomed(shownSpan(), factor, now(), share));
}

export const zoomIn = () => zoomBy(1 / STEP);
export const zoomOut = () => zoomBy(STEP);
export const unzoom = () => choices.zoom && set(null);
export const pan = direction => shownSpan() && set(panned(shownSpan(), direction * PAN, now()));

/** What part of time is shown, where it is not the chosen window up to now. */
export function drawZoom() {
  const { zoom } = choices;
  show($('#follow'), zoom !== null);
  for (const input of document.querySelectorAll('[name=window]')) {
    const checked = zoom === null && input.value === choices.window;
    if (input.checked !== checked) input.checked = checked;
  }
  for (const id of ['#window', '#zoom']) show($(id), choices.view !== 'hosts');
  if (!zoom) return;
  const words = zoom.length < 60_000 ? fineClock : clock;
  const text = zoom.end == null ? `last ${duration(zoom.length)}` : `${words(zoom.end - zoom.length)} – ${words(zoom.end)}`;
  put($('#follow'), 'span', text);
}

const surfaceOf = target => target.closest?.('.plot, #axis');

function shareAt(surface, clientX) {
  const { left, width } = surface.getBoundingClientRect();
  return Math.min(1, Math.max(0, (clientX - left) / width));
}

function drawBrush() {
  const brush = $('#brush');
  const wide = drag && Math.abs(drag.x - drag.from) >= LEAST_DRAG;
  show(brush, Boolean(wide));
  if (!wide) return;
  const card = $('#timeline').getBoundingClientRect();
  brush.style.left = `${Math.min(drag.from, drag.x) - card.left}px`;
  brush.style.width = `${Math.abs(drag.x - drag.from)}px`;
}

export const dragging = () => drag !== null && Math.abs(drag.x - drag.from) >= LEAST_DRAG;

export function cancelDrag() {
  drag = null;
  drawBrush();
}

function onDown(event) {
  const surface = event.button === 0 && event.pointerType !== 'touch' && surfaceOf(event.target);
  if (surface) drag = { surface, from: event.clientX, x: event.clientX };
}

function onMove(event) {
  if (!drag) return;
  const { left, right } = drag.surface.getBoundingClientRect();
  drag.x = Math.min(right, Math.max(left, event.clientX));
  drawBrush();
}

function onUp() {
  if (!drag) return;
  const { surface, from, x } = drag;
  const wide = dragging();
  cancelDrag();
  if (wide) set(picked(shownSpan(), shareAt(surface, from), shareAt(surface, x), now()));
}

function onWheel(event) {
  const surface = (event.ctrlKey || event.metaKey) && surfaceOf(event.target);
  if (!surface) return;
  event.preventDefault();
  zoomBy(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 200), shareAt(surface, event.clientX));
}

export function listenZoom(draw, moment) {
  redraw = draw;
  momentNow = moment;
  $('#timeline').addEventListener('pointerdown', onDown);
  $('#timeline').addEventListener('wheel', onWheel, { passive: false });
  document.addEventListener('pointermove', onMove, { passive: true });
  document.addEventListener('pointerup', onUp);
  document.addEventListener('pointercancel', cancelDrag);
  $('#zoom').addEventListener('click', event => {
    const way = event.target.closest('button')?.dataset.zoom;
    if (way) zoomBy(way === 'in' ? 1 / STEP : STEP);
  });
  $('#follow').addEventListener('click', unzoom);
}

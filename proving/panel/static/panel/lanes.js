// What happened when: lanes, flows, grids and device lanes on one time axis.

import { NAMES, MIX, segments, spans } from './model.js';
import { clock, duration, fineClock } from './text.js';
import { SHARE, bar, block, cross, hatches, palette, surface, text } from './canvas.js';

const TICKS = [100, 500, 1e3, 2e3, 5e3, 10e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 3600e3]; // distances of grid lines
const ROOM_PER_TICK = 64;

/** The axis of a canvas: where a time lies on it, and where grid lines stand. */
export function scale(width, { start, length }) {
  const step = TICKS.find(t => (t / length) * width >= ROOM_PER_TICK) ?? TICKS.at(-1);
  const first = Math.ceil(start / step);
  const ticks = [];
  for (let k = first; k * step < start + length; k++) ticks.push(k * step);
  return { start, end: start + length, step, ticks, x: t => ((t - start) / length) * width };
}

const tickWords = (t, step) => (step < 1e3 ? fineClock(t) : clock(t, step < 60e3));

export function drawAxis(canvas, axisAt, now) {
  const { g, width } = surface(canvas, 26);
  const axis = axisAt(width);
  const here = axis.x(now);
  const shown = here >= 0 && here <= width;
  for (const t of axis.ticks) {
    const x = axis.x(t);
    const free = x > 22 && x < width - 22 && !(shown && Math.abs(x - here) <= 58);
    if (free) text(g, tickWords(t, axis.step), x, 13, palette.muted, 'center');
  }
  if (!shown) return;
  g.font = `600 ${g.font}`;
  text(g, clock(now), Math.max(28, Math.min(here, width - 28)), 13, palette.text, 'center');
}

/** Grid lines, the time that nobody has reported on, and now. */
export function ground({ g, width, height }, axis, now, at, state) {
  for (const t of axis.ticks) block(g, palette['line-soft'], Math.round(axis.x(t)), 0, 1, height);
  const [known, here] = [Math.max(0, axis.x(at)), axis.x(now)];
  if (state !== 'live' && known < width) block(g, hatches.unknown, known, 0, Math.min(width, here) - known, height);
  if (here <= width) block(g, palette.text, Math.round(here), 0, 1, height, 0.55);
}

function strength(p, segment, highlight) {
  if (highlight && highlight !== p.state) return 0.16;
  if (p.state === 'done') return 0.5;
  return segment.lost ? 0.45 : 1;
}

export function lane(g, p, axis, y, height, at, highlight) {
  for (const s of segments(p, at)) {
    g.globalAlpha = strength(p, s, highlight);
    bar(g, s.phase, axis.x(s.from), axis.x(s.to), y, height);
  }
  g.globalAlpha = highlight && highlight !== p.state ? 0.3 : 1;
  const ends = p.past.map(h => h.times.end);
  if (p.state === 'failed') ends.push(p.times.end);
  for (const end of ends) if (end != null) cross(g, axis.x(end), y + height / 2);
  g.globalAlpha = 1;
}

const STAGES = ['end', 'gpuEnd', 'gpuStart', 'synthEnd', 'synthStart']; // in the order of MIX

/** When the number of partitions that have entered a stage and not fallen out of the job changes, and by how much. */
function changes(job, stage) {
  const events = [];
  for (const { state, times } of job.partitions) {
    const fell = state === 'failed' || state === 'cancelled';
    const entered = times[stage];
    if (entered == null || (fell && stage === 'end')) continue;
    events.push([entered, 1]);
    if (fell && times.end != null) events.push([times.end, -1]);
  }
  return events.sort((a, b) => a[0] - b[0]);
}

/** Cumulative flow: the height of a band is the number of partitions in that phase at that time. */
export function flow(g, job, axis, y, height, width, at) {
  const queued = job.partitions[0]?.times.queued ?? job.submitted;
  if (queued == null) return;
  const from = Math.max(0, axis.x(queued));
  const to = Math.min(width, axis.x(at));
  if (to <= from) return;
  block(g, palette.track, from, y, Math.max(0, to - from), height);
  for (let band = STAGES.length - 1; band >= 0; band--) {
    const phase = MIX[band];
    const events = changes(job, STAGES[band]);
    let next = 0;
    let inside = 0;
    g.beginPath();
    g.moveTo(from, y + height);
    for (let x = from; x <= to; x++) {
      while (next < events.length && axis.x(events[next][0]) <= x) inside += events[next++][1];
      g.lineTo(x, y + height - (inside / job.size) * height);
    }
    g.lineTo(to, y + height);
    g.closePath();
    g.fillStyle = palette.surface; // patterns are translucent: nothing of the band behind may show
    g.fill();
    g.globalAlpha = band === 0 ? 0.5 : 1;
    g.fillStyle = hatches[phase] ?? palette[phase];
    g.fill();
    g.globalAlpha = 1;
  }
}

const CELL_STRENGTH = { done: 0.5, pending: 0.6 };

/** The dense grid of a wide job: how its cells lie. */
export function gridOf(count, width, open) {
  const pitch = open ? 20 : 11;
  const columns = Math.max(1, Math.floor((width - 12) / pitch));
  return { pitch, columns, height: Math.ceil(count / columns) * pitch };
}

export function cells(g, job, y, width, open, highlight) {
  const { pitch, columns } = gridOf(job.partitions.length, width, open);
  const side = pitch - 2;
  job.partitions.forEach((p, i) => {
    const x = 6 + (i % columns) * pitch;
    const top = y + Math.floor(i / columns) * pitch;
    const share = SHARE[p.state] ?? 1;
    const filled = Math.round(side * share);
    g.globalAlpha = highlight && highlight !== p.state ? 0.2 : (CELL_STRENGTH[p.state] ?? 1);
    g.strokeStyle = palette[p.state];
    g.fillStyle = hatches[p.state] ?? palette[p.state];
    g.lineWidth = 1;
    if (share < 1) g.strokeRect(x + 0.5, top + 0.5, side - 1, side - 1);
    g.fillRect(x, top + side - filled, side, filled);
    if (p.state === 'failed') cross(g, x + side / 2, top + side / 2);
  });
  g.globalAlpha = 1;
}

/** A diamond where the server expects the job to end, a flag at its deadline. */
export function forecast(g, job, axis, at, width, y) {
  if (job.eta != null) {
    const x = axis.x(job.eta);
    block(g, palette.text, axis.x(at), y, Math.max(0, Math.min(x - 5, width - 16) - axis.x(at)), 1, 0.3);
    g.fillStyle = palette.text;
    if (x >= width - 5) text(g, '›', width - 12, y);
    else g.fill(new Path2D(`M${x - 4} ${y + 0.5}l4 -4 4 4 -4 4z`));
  }
  const due = job.due == null ? null : axis.x(job.due);
  if (due != null && due > 0 && due < width - 24) {
    block(g, palette.text, due, y - 14, 1, 28);
    text(g, 'due', due + 4, y - 9);
  }
}

/** The last minutes of a device in one small strip. */
export function strip(canvas, history, from, at) {
  const { g, width, height } = surface(canvas, 8);
  const x = t => ((t - from) / (at - from)) * width;
  block(g, palette.track, 0, 0, width, height);
  for (const s of history) {
    if (s.to == null || s.to <= from) continue;
    const left = Math.max(0, x(s.from));
    block(g, palette[isLoss(s) ? 'failed' : 'gpu'], left, 0, Math.max(1, x(s.to) - left - 0.7), height);
  }
}

const isLoss = s => !s.open && (s.outcome === 'lost' || s.outcome === 'failed');

/** One device: blocks named by job tail and partition, idle gaps named by length. */
export function deviceLane(g, worker, axis, height, at, readAt) {
  const tall = 26;
  const y = (height - tall) / 2;
  const middle = y + tall / 2 + 0.5;
  const history = (spans(worker, at, readAt) ?? []).filter(s => s.from != null && s.to != null);
  // before the first record nothing is known, so nothing is drawn
  const known = history[0]?.from ?? worker.idleSince;
  if (known == null) return;
  let free = Math.max(axis.start, known);
  const gap = until => {
    const [left, right] = [axis.x(free), Math.min(axis.x(axis.end), axis.x(until))];
    const words = `idle ${duration(until - free)}`;
    if (right - left > 56) text(g, words, (left + right) / 2, middle, palette.muted, 'center');
  };
  if (free >= axis.end) return;
  block(g, palette['line-soft'], axis.x(free), y, Math.max(0, axis.x(at) - axis.x(free)), tall);
  for (const s of history.filter(span => span.to > axis.start && span.from < axis.end)) {
    const x = Math.max(0, axis.x(s.from));
    const width = Math.max(1, Math.min(axis.x(axis.end), axis.x(s.to)) - x - 1);
    if (worker.spans) gap(s.from);
    free = s.to;
    block(g, palette.gpu, x, y, width, tall, s.open ? 1 : 0.35);
    if (isLoss(s) && s.to < axis.end) cross(g, x + width, y + tall / 2);
    const name = s.index == null ? 'other' : `P${s.index}`;
    const words = width > 60 && s.index != null ? `${s.job.slice(-4)} ${name}` : name;
    if (width > (s.index == null ? 40 : 26)) text(g, words, x + width / 2, middle, s.open ? palette.surface : palette.text, 'center');
  }
  if (free < axis.end) gap(at);
}

/** What a device worked on at a time, if anything. */
export const deviceSpanAt = (worker, t, at, readAt) =>
  (spans(worker, at, readAt) ?? []).find(s => s.from != null && s.from <= t && t < (s.to ?? at));

export const describe = counts =>
  Object.entries(counts).map(([state, n]) => `${n} ${(NAMES[state] ?? state).toLowerCase()}`).join(', ');

// The timeline's rows. Prefix sums give every row its place; only those in sight exist.

import { MIX, NAMES, age, segments } from './model.js';
import { clock, duration, roughly, shorten } from './text.js';
import { $, attr, field, fill, icon, keyed, phone, put, putId, show, tick } from './dom.js';
import { palette, surface } from './canvas.js';
import { cells, describe, deviceLane, drawAxis, flow, forecast, gridOf, ground, lane, scale } from './lanes.js';
import { choices } from './choices.js';
import { spanOf } from './span.js';
import { drawHosts } from './hosts.js';

/** More partitions than this: flow and dense grid instead of lanes. */
const WIDE = 40;
const MOST_PRINTED = 100;
const MARGIN = 200; // pixels above and below the window in which rows exist
const DETAIL_PITCH = 22;
const PHONE_PART = 26;
const PRIORITY = { low: '▽ low', high: '▲ high', critical: '▲ critical' };

/** What stands beside the id in a job's head: padding, chevron, copy button, gaps, then the tally. */
const HEAD_PIXELS = 288;
const HEAD_FIXED = 72;
const TALLY_CHARACTER = 7.4;
/** The label has a line of its own, a little narrower than the head, in proportional letters. */
const LABEL_FIXED = 40;
const LABEL_CHARACTER = 6.4;
const LABEL_LINE = 17;

let rows = [];
let axisAt = null;
let span = null;
let headPixels = HEAD_PIXELS;
let printing = false;
let shown = null; // the document and the moment that the rows were drawn for
const drawn = new WeakSet();

/** Paper has no scrolling: before it is printed, every row is made. */
export function setPrinting(yes) {
  printing = yes;
}

export const shownSpan = () => span;

export const keyOf = node => node?.closest?.('.row')?.dataset.key;
/** Where the row of a job begins, in pixels from the first row's top; null where it has none. */
export const placeOf = key => rows.find(row => row.key === key)?.y ?? null;
export const rowOf = node => rows.find(row => row.key === keyOf(node));

/** Heights inside one row; a job that has not begun is a single line. */
function planJob(job, width, small) {
  const label = job.label ? LABEL_LINE : 0;
  const head = small ? 58 + label : 0;
  const open = choices.open.has(job.id);
  const n = job.partitions.length;
  const wide = n > WIDE;
  const detail = open && !small && !wide && n > 0;
  const begun = job.counts.pending !== job.size;
  const lanes = open || begun ? n : Math.min(1, n);
  const pitch = detail ? DETAIL_PITCH : lanes === 1 ? 12 : 6;
  const top = detail ? 56 + label : small ? 4 : 10;
  const body = wide ? 44 + gridOf(n, width, open).height : lanes * pitch;
  const plot = Math.max(small ? 20 : 56 + label, top + 10 + body);
  const listed = open && small && !wide ? n * PHONE_PART + 8 : 0;
  const firstLane = detail || wide ? top : (plot - lanes * pitch) / 2;
  return { job, key: job.id, open, wide, detail, lanes, pitch, top, firstLane, plot, height: head + plot + listed };
}

function planDevice(worker, small, readAt) {
  const plot = small ? 44 : 58;
  return { worker, readAt, key: worker.name, plot, height: plot + (small ? 58 : 0) };
}

function place(doc, width) {
  const small = phone();
  const plans = choices.view === 'jobs'
    ? doc.jobs.map(job => planJob(job, width, small))
    : doc.workers.map(worker => planDevice(worker, small, doc.at));
  let y = 0;
  for (const row of plans) {
    row.y = y;
    y += row.height + 1;
  }
  rows = plans;
  return y;
}

export function drawTimeline(doc, moment) {
  const { now } = moment;
  const axis = $('#axis');
  const box = $('#jobs');
  span = spanOf(doc, moment, choices);
  drawHosts(doc, choices.view === 'hosts');
  show(box, choices.view !== 'hosts');
  if (choices.view === 'hosts') {
    rows = [];
    return;
  }
  axisAt = width => scale(width, span);
  drawAxis(axis, axisAt, now);
  headPixels = phone() ? axis.clientWidth : HEAD_PIXELS;
  box.style.height = `${place(doc, axis.clientWidth)}px`;
  shown = { doc, moment };
  drawRows(true);
}

/** The rows in sight. When the page was only scrolled, those that were there already are left as they are. */
function drawRows(all) {
  const box = $('#jobs');
  const { doc, moment } = shown;
  const above = -box.getBoundingClientRect().top;
  const held = keyOf(document.activeElement); // a focused row is never dropped
  const inSight = row => row.y + row.height > above - MARGIN && row.y < above + innerHeight + MARGIN;
  const visible = printing ? rows.slice(0, MOST_PRINTED) : rows.filter(row => row.key === held || inSight(row));
  keyed(box, visible, row => row.key, '#t-row', (li, row) => {
    if (!all && drawn.has(li)) return;
    drawn.add(li);
    li.style.transform = `translateY(${row.y}px)`;
    li.style.height = `${row.height + 1}px`;
    attr(li, 'data-kind', row.worker ? 'device' : null);
    if (row.worker) drawDevice(li, row, doc, moment);
    else drawJob(li, row, doc, moment);
  });
}

export function onScroll() {
  if (shown && rows.length) drawRows(false);
}

const idRoom = tally => Math.floor((headPixels - HEAD_FIXED - tally.length * TALLY_CHARACTER) / palette.character);

/** What stands at the right edge of a job: how it ended or will end, as far as the document says. */
function outlook(job, { now, at, state }) {
  if (job.counts.failed) return { words: `${job.counts.failed} failed`, tone: 'bad' };
  if (job.ended) {
    const words = job.state ?? (job.counts.cancelled ? 'cancelled' : 'done');
    return { words, tone: words === 'failed' ? 'bad' : null };
  }
  if (job.state === 'cancelling') return { words: 'cancelling', tone: null };
  if (job.waitingFor) return { words: 'held', tone: 'warn' };
  const late = job.due != null && (at > job.due || job.eta > job.due);
  if (state === 'live' && job.eta > now) return { words: roughly(job.eta - now), tone: late ? 'bad' : null };
  if (job.due != null) return { words: `due ${clock(job.due, false)}`, tone: late ? 'bad' : null };
  return { words: job.submitted == null ? '' : duration(at - job.submitted), tone: null };
}

function drawJob(li, row, doc, moment) {
  const { job, open } = row;
  const tally = `${job.done} / ${job.size}`;
  const { words, tone } = outlook(job, moment);
  putId(field(li, 'id'), job.id, idRoom(tally));
  fill(li, { count: tally, prio: PRIORITY[job.priority] ?? '', eta: words });
  const meta = [job.circuitName, job.kind].filter(Boolean).join(' · ');
  attr(put(li, 'meta', meta), 'title', [meta, job.priority && `${job.priority} priority`].filter(Boolean).join(', '));
  putId(field(li, 'label'), job.label, Math.floor((headPixels - LABEL_FIXED) / LABEL_CHARACTER));
  const eta = field(li, 'eta');
  attr(eta, 'data-tone', tone);
  attr(eta, 'title', job.eta > moment.now ? `expected to end at ${clock(job.eta)}, by what was proved so far` : null);
  attr(li, 'data-open', open ? '' : null);
  attr(li, 'data-labelled', job.label ? '' : null);
  const toggle = li.querySelector('.toggle');
  attr(toggle, 'aria-expanded', String(open));
  const facts = [job.id, job.label, job.circuitName, job.kind, `${job.done} of ${job.size} done`, words];
  attr(toggle, 'aria-label', facts.filter(Boolean).join(', '));
  attr(li.querySelector('.copy'), 'aria-label', `Copy ${job.id}`);
  keyed(li.querySelector('.mix'), MIX.filter(state => job.counts[state]), state => state, tick, (i, state) => {
    attr(i, 'data-phase', state);
    i.style.width = `${(job.counts[state] / job.size) * 100}%`;
  });
  const listed = open && !row.wide ? job.partitions : [];
  keyed(li.querySelector('.parts'), listed, p => p.index, '#t-part', (node, p) => drawPart(node, p, doc, moment));
  drawPlot(li.querySelector('.plot'), row, moment);
}

function drawPart(node, p, doc, { at }) {
  const ms = age(p, at, doc.at);
  icon(node, p.state);
  const again = p.attempt > 1 ? ` · attempt ${p.attempt}` : '';
  fill(node, { name: `P${p.index}`, state: (NAMES[p.state] ?? p.state) + again, secs: ms == null ? '' : duration(ms) });
}

function drawPlot(canvas, row, { now, at, state }) {
  const { job } = row;
  const box = surface(canvas, row.plot);
  const axis = axisAt(box.width);
  attr(canvas, 'aria-label', describe(job.counts));
  ground(row.wide ? { ...box, height: 48 } : box, axis, now, at, state);
  if (row.wide || row.detail) flow(box.g, job, axis, 10, 34, box.width, at);
  if (row.wide) cells(box.g, job, row.top + 44, box.width, row.open, choices.phase);
  const tall = row.detail ? 14 : row.pitch - 1;
  const inset = row.detail ? 4 : 0;
  if (!row.wide) {
    job.partitions.slice(0, row.lanes).forEach((p, i) => {
      lane(box.g, p, axis, row.firstLane + i * row.pitch + inset, tall, at, choices.phase);
    });
  }
  const middle = row.wide || row.detail ? 26 : row.plot / 2;
  if (state === 'live' && !job.ended) forecast(box.g, job, axis, at, box.width, middle);
}

/** What somebody works on: the job, cut in the middle, and the partition where the reader may know it. */
export const workWords = ({ job, index }, room) => shorten(job ?? '', room) + (index == null ? '' : ` · P${index}`);

function drawDevice(li, row, doc, { now, at, state }) {
  const { worker } = row;
  const plot = li.querySelector('.plot');
  const box = surface(plot, row.plot);
  const axis = axisAt(box.width);
  putId(field(li, 'id'), worker.name, idRoom(worker.device));
  const work = worker.proving ? workWords(worker, 24) : 'idle';
  const busy = worker.proving && worker.busyMs != null ? duration(at - doc.at + worker.busyMs) : '';
  fill(li, { count: worker.device, prio: '', meta: work, eta: busy, label: '' });
  attr(field(li, 'meta'), 'title', worker.job);
  const doing = worker.proving ? `proving P${worker.index} of ${worker.job}` : 'idle';
  attr(plot, 'aria-label', `${worker.name}, ${worker.device}: ${doing}`);
  ground(box, axis, now, at, state);
  deviceLane(box.g, worker, axis, row.plot, at, doc.at);
}

/** The time under a point of a plot, or of the axis. */
export const timeAt = (x, width) => span.start + (x / width) * span.length;

/** The partition under a point of a job's plot. */
export function partitionAt(row, x, y, width) {
  const { partitions } = row.job;
  if (!row.wide) return partitions.slice(0, row.lanes)[Math.floor((y - row.firstLane) / row.pitch)];
  const { pitch, columns } = gridOf(partitions.length, width, row.open);
  const line = Math.floor((y - row.top - 44) / pitch);
  const column = Math.floor((x - 6) / pitch);
  return line < 0 || column < 0 || column >= columns ? undefined : partitions[line * columns + column];
}

export function phaseLengths(p, at) {
  return segments(p, at).map(s => ({
    key: `${s.phase} ${s.from}`,
    name: s.lost ? `${NAMES[s.phase]}, lost` : NAMES[s.phase],
    from: s.from,
    to: s.to,
    length: duration(s.to - s.from),
  }));
}

// Everything around the timeline: connection, verdict, phases, attention, devices, memory, counters.

import { NAMES, PHASES, spans } from './model.js';
import { SILENCE_MS, attention, bottleneck, busyWorkers, heldJobs, oldestAge, verdict } from './insight.js';
import { clock, count, duration, plural, shorten, size, sizeOf } from './text.js';
import { $, attr, field, fill, icon, keyed, put, putId, show, tick } from './dom.js';
import { strip } from './lanes.js';
import { choices } from './choices.js';

const ATTENTION_SHOWN = 4;
const KEYS_SHOWN = 6;
const RECENT_MS = 300e3;

const HELPER_KINDS = { synthesis: 'Synthesis', finalize: 'Finalizing' };
const CONNECTION = { live: 'Live', stale: 'Delayed', lost: 'Disconnected' };

function banner(feed, moment) {
  const seen = clock(moment.at);
  const kept = `You see the state at ${seen}; nothing after it is guessed. Trying again.`;
  if (moment.state !== 'live') {
    const title = feed.fault?.text ?? `No new snapshot since ${seen}.`;
    return { tone: moment.state, title, text: kept, signIn: feed.fault?.signedOut };
  }
  if (!feed.doc.consistent) {
    const text = 'Workers, partitions and tallies in it do not tell the same story.';
    return { tone: 'lost', title: 'The service calls this snapshot inconsistent.', text };
  }
  if (feed.contradictions.length) {
    const [first, ...others] = feed.contradictions;
    const more = others.length ? ` And ${plural(others.length, 'more')}.` : '';
    return { tone: 'lost', title: 'The snapshot contradicts itself.', text: `${first}.${more}` };
  }
  return null;
}

export function drawConnection(feed, moment) {
  const { doc } = feed;
  const connection = $('#conn');
  attr(connection, 'data-state', moment.state);
  const age = moment.state === 'live' ? '' : ` ${duration(moment.silence)}`;
  put(connection, 'text', CONNECTION[moment.state] + age);
  put($('.top'), 'uptime', doc.uptimeMs == null ? '–' : duration(doc.uptimeMs + (moment.at - doc.at)));
  const notice = banner(feed, moment);
  const box = $('#banner');
  if (notice) {
    attr(box, 'data-state', notice.tone);
    fill(box, { title: notice.title, text: notice.text });
    show(field(box, 'sign-in'), notice.signIn === true);
  }
  show(box, notice !== null);
}

/** The banner alone, while there has never been a document. */
export function drawUnread(fault) {
  const box = $('#banner');
  attr(box, 'data-state', 'lost');
  fill(box, { title: fault.text, text: fault.signedOut ? '' : 'Trying again.' });
  show(field(box, 'sign-in'), fault.signedOut);
  show(box, true);
  attr($('#conn'), 'data-state', 'lost');
  put($('#conn'), 'text', CONNECTION.lost);
  fill($('.verdict'), { lead: 'Status unknown.', rest: '' });
}

export function drawVerdict(doc, { at, state }) {
  const { lead, rest } = verdict(doc, at);
  const dated = state === 'live' ? lead : `At ${clock(at)}: ${lead.charAt(0).toLowerCase()}${lead.slice(1)}`;
  fill($('.verdict'), { lead: dated, rest });
}

const oldest = (doc, phase, at) => {
  const ms = oldestAge(doc, phase, at);
  return ms == null ? '' : `oldest ${duration(ms)}`;
};

function tileNote(doc, phase, at) {
  const { active, slots } = doc.synthesis;
  const held = heldJobs(doc).reduce((sum, job) => sum + (job.counts.pending ?? 0), 0);
  switch (phase) {
    case 'pending':
      return held ? `${count(held)} held back` : oldest(doc, phase, at);
    case 'synthesizing':
      return slots == null ? oldest(doc, phase, at) : `${active ?? '–'} of ${plural(slots, 'slot')}`;
    case 'gpu':
      return `${busyWorkers(doc)} of ${doc.workers.length} busy`;
    case 'done': {
      const { failed, cancelled } = doc.phases;
      const notes = [`of ${count(doc.partitionCount)}`];
      if (failed.count) notes.push(`${count(failed.count)} failed`);
      if (cancelled.count) notes.push(`${count(cancelled.count)} cancelled`);
      return notes.join(', ');
    }
    default:
      return oldest(doc, phase, at);
  }
}

export function drawPhases(doc, { at }) {
  const limit = bottleneck(doc, at);
  keyed($('#flow'), PHASES, phase => phase, '#t-flow', (li, phase) => {
    const n = doc.phases[phase].count;
    const button = li.firstElementChild;
    icon(li, phase);
    const tag = limit === phase ? 'bottleneck' : '';
    fill(li, { name: NAMES[phase], tag, count: count(n), sub: tileNote(doc, phase, at) || 'none' });
    attr(button, 'aria-pressed', String(choices.phase === phase));
    attr(button, 'data-zero', n ? null : '');
  });
}

export function drawAttention(doc) {
  const items = attention(doc);
  const box = $('#attention-box');
  show(box, items.length > 0);
  put(box, 'n', items.length > ATTENTION_SHOWN ? `${ATTENTION_SHOWN} of ${count(items.length)}` : '');
  keyed($('#attention'), items.slice(0, ATTENTION_SHOWN), item => item.key, '#t-attention', (li, item) => {
    icon(li, item.icon, item.tone);
    fill(li, { title: item.title, text: item.text });
    putId(field(li, 'id'), item.id, 25);
  });
}

function drawGauge(node, memory, label) {
  const { total, used, occupants } = memory;
  const pieces = occupants.length ? occupants : [{ kind: 'used', owner: null, bytes: used, evictable: false }];
  keyed(node, pieces.filter(o => o.bytes > 0), o => `${o.kind} ${o.owner}`, tick, (i, o) => {
    i.style.width = `${(o.bytes / total) * 100}%`;
    attr(i, 'data-kind', o.kind);
    attr(i, 'data-soft', o.evictable ? '' : null);
    const bytes = size(o.bytes) + (o.evictable ? ', evictable' : '');
    attr(i, 'title', [o.owner, o.kind.replaceAll('_', ' '), bytes].filter(Boolean).join(' · '));
  });
  const facts = { label, valuemin: 0, valuemax: total, valuenow: used, valuetext: sizeOf(used, total) };
  for (const [name, value] of Object.entries(facts)) attr(node, `aria-${name}`, value);
}

/** The last minutes, or all of them where the service is younger. */
function recentSpan(doc, at) {
  const age = doc.uptimeMs > 0 ? doc.uptimeMs + (at - doc.at) : RECENT_MS;
  return Math.max(1000, Math.min(RECENT_MS, age));
}

function busyShare(history, from, at) {
  const inside = s => Math.max(0, Math.min(s.to ?? at, at) - Math.max(s.from ?? at, from));
  return Math.min(1, history.reduce((sum, s) => sum + inside(s), 0) / (at - from));
}

function idleWords(worker, at) {
  const silent = worker.lastSeenMs > SILENCE_MS ? `last seen ${duration(worker.lastSeenMs)} ago` : '';
  return silent || (worker.idleSince == null ? '' : duration(at - worker.idleSince));
}

function drawDevice(li, worker, doc, at) {
  const { proving, memory } = worker;
  const from = at - recentSpan(doc, at);
  const history = spans(worker, at, doc.at);
  icon(li, proving ? 'gpu' : 'pending');
  const where = [worker.host, worker.model].filter(Boolean).join(' · ');
  attr(put(li, 'where', where), 'title', [worker.name, where].filter(Boolean).join(' · '));
  const busyFor = proving && worker.busyMs != null ? duration(at - doc.at + worker.busyMs) : idleWords(worker, at);
  const share = worker.spans ? `${Math.round(busyShare(history, from, at) * 100)} %` : '';
  fill(li, { name: worker.device, busy: share, secs: busyFor });
  const idle = worker.draining ? 'idle, draining' : 'idle';
  const work = put(li, 'work', proving ? `${shorten(worker.job, 24)} · P${worker.index}` : idle);
  attr(work, 'title', worker.job);
  attr(li, 'data-proving', proving ? '' : null);
  show(li.querySelector('.memory'), memory !== null);
  if (memory) {
    drawGauge(li.querySelector('.gauge'), memory, `Memory of ${worker.name}`);
    const keys = worker.keys.length ? `resident keys: ${worker.keys.join(', ')}` : null;
    attr(put(li, 'mem', sizeOf(memory.used, memory.total)), 'title', keys);
  }
  const canvas = li.querySelector('canvas');
  show(canvas, worker.spans !== null);
  if (worker.spans) strip(canvas, history, from, at);
}

export function drawDevices(doc, { at }) {
  const box = $('#devices-box');
  const told = doc.workers.some(w => w.spans);
  put(box, 'span', !told ? '' : recentSpan(doc, at) < RECENT_MS ? 'since the start' : 'last 5 min');
  show(field(box, 'none'), doc.workers.length === 0);
  keyed($('#devices'), doc.workers, w => w.name, '#t-device', (li, worker) => drawDevice(li, worker, doc, at));
}

function drawHelper(li, helper) {
  putId(field(li, 'id'), helper.name, 22);
  const work = helper.working ? `${shorten(helper.job ?? '', 12)} · P${helper.index}` : 'idle';
  attr(put(li, 'work', work), 'title', helper.job);
  attr(li, 'data-proving', helper.working ? '' : null);
}

/** The workers of the stages before and after the device. */
export function drawHelpers(doc) {
  const kinds = [...new Set(doc.helpers.map(h => h.kind))];
  keyed($('#helpers'), kinds, kind => kind, '#t-helpers', (group, kind) => {
    const all = doc.helpers.filter(h => h.kind === kind);
    const working = all.filter(h => h.working);
    fill(group, { kind: HELPER_KINDS[kind] ?? kind, share: `${working.length} of ${all.length} working` });
    keyed(group.querySelector('ul'), all, h => h.name, '#t-helper', drawHelper);
  });
}

const KEY_KINDS = new Set(['srs', 'pce', 'key']);

function drawHost(li, { name, memory }, heldOn) {
  const held = { partitions: 0, keys: 0 };
  for (const o of memory.occupants) held[KEY_KINDS.has(o.kind) ? 'keys' : 'partitions'] += o.bytes;
  const split = Object.entries(held).filter(([, bytes]) => bytes > 0).map(([what, bytes]) => `${what} ${size(bytes)}`);
  fill(li, { name, used: sizeOf(memory.used, memory.total), split: split.join(' · ') });
  drawGauge(li.querySelector('.gauge'), memory, `Memory budget of ${name}`);
  const free = memory.free < 0 ? `${size(-memory.free)} over` : `${size(memory.free)} free`;
  attr(put(li, 'free', free), 'data-tone', heldOn.has(name) ? 'warn' : null);
}

export function drawMemory(doc, { at }) {
  const heldOn = new Set(heldJobs(doc).map(job => job.waitingFor.host));
  show($('#memory-box'), doc.hosts.length > 0 || doc.keys.length > 0);
  keyed($('#memory'), doc.hosts, host => host.name, '#t-memory', (li, host) => drawHost(li, host, heldOn));
  const shown = doc.keys.slice(0, KEYS_SHOWN);
  show($('#keys-title'), shown.length > 0);
  keyed($('#keys'), shown, k => `${k.kind} ${k.circuit}`, '#t-key', (li, k) => {
    putId(field(li, 'id'), k.circuit, 24);
    const what = k.kind === 'pce' ? 'constraints' : 'proving key';
    fill(li, { bytes: size(k.bytes), note: k.evictable ? 'evictable' : '' });
    const used = k.lastUsedMs == null ? '' : `, used ${duration(k.lastUsedMs + (at - doc.at))} ago`;
    attr(li, 'title', `${k.circuit}: ${what}${used}`);
  });
}

const orDash = n => (n == null ? '–' : count(n));

export function drawCounters(doc) {
  const { byKind, failed, ...counters } = doc.counters;
  fill($('#counters-box'), {
    completed: orDash(counters.completed),
    failed: orDash(failed),
    cancelled: orDash(counters.cancelled),
    queue: orDash(counters.queueDepth),
    refused: orDash(counters.staleWrites),
  });
  attr(field($('#counters-box'), 'failed'), 'data-tone', failed ? 'bad' : null);
  show($('#kinds'), byKind.length > 0);
  keyed($('#kinds tbody'), byKind, k => k.kind, '#t-kind', (tr, k) => {
    fill(tr, { kind: k.kind, completed: count(k.completed), failed: count(k.failed) });
    attr(field(tr, 'failed'), 'data-tone', k.failed ? 'bad' : null);
  });
  show($('#buffers'), doc.buffers.length > 0);
  keyed($('#buffers ul'), doc.buffers, ([name]) => name, '#t-buffer', (li, [name, n]) => {
    fill(li, { name: name.replaceAll('_', ' '), n: count(n) });
  });
  put($('.foot'), 'rev', doc.rev == null ? `snapshot of ${clock(doc.at)}` : `rev ${doc.rev} of ${clock(doc.at)}`);
}

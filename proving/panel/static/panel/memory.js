// Budgets of memory: how full, with what, and which keys are loaded.

import { duration, size, sizeOf } from './text.js';
import { $, attr, field, fill, keyed, put, putId, show, tick } from './dom.js';
import { circuitName } from './model.js';
import { heldJobs } from './insight.js';

const KEYS_SHOWN = 6;
/** Occupants that a screen reader is told of. */
const MOST_SPOKEN = 8;

const nameOf = (occupant, doc) => (KEY_KINDS.has(occupant.kind) ? circuitName(doc, occupant.owner) : occupant.owner);

/** A bar of what occupies a budget, a piece an occupant, each named on hover. */
export function drawGauge(node, memory, label, doc) {
  const { total, used, occupants } = memory;
  const pieces = occupants.length ? occupants : [{ kind: 'used', owner: null, bytes: used, evictable: false }];
  keyed(node, pieces.filter(o => o.bytes > 0), o => `${o.kind} ${o.owner}`, tick, (i, o) => {
    i.style.width = `${(o.bytes / total) * 100}%`;
    attr(i, 'data-kind', o.kind);
    attr(i, 'data-soft', o.evictable ? '' : null);
    const bytes = size(o.bytes) + (o.evictable ? ', evictable' : '');
    attr(i, 'title', [nameOf(o, doc), o.kind.replaceAll('_', ' '), bytes].filter(Boolean).join(' · '));
  });
  const whose = occupants.map(o => `${nameOf(o, doc) ?? o.kind} ${size(o.bytes)}`).slice(0, MOST_SPOKEN);
  const valuetext = [sizeOf(used, total), ...whose].join(', ');
  const facts = { label, valuemin: 0, valuemax: total, valuenow: used, valuetext };
  for (const [name, value] of Object.entries(facts)) attr(node, `aria-${name}`, value);
}

const KEY_KINDS = new Set(['srs', 'pce', 'key']);

function drawHost(li, { name, memory }, heldOn, doc) {
  const held = { partitions: 0, keys: 0 };
  for (const o of memory.occupants) held[KEY_KINDS.has(o.kind) ? 'keys' : 'partitions'] += o.bytes;
  const split = Object.entries(held).filter(([, bytes]) => bytes > 0).map(([what, bytes]) => `${what} ${size(bytes)}`);
  fill(li, { name, used: sizeOf(memory.used, memory.total), split: split.join(' · ') });
  drawGauge(li.querySelector('.gauge'), memory, `Memory budget of ${name}`, doc);
  const free = memory.free < 0 ? `${size(-memory.free)} over` : `${size(memory.free)} free`;
  attr(put(li, 'free', free), 'data-tone', heldOn.has(name) ? 'warn' : null);
}

export function drawMemory(doc, { at }) {
  const heldOn = new Set(heldJobs(doc).map(job => job.waitingFor.host));
  show($('#memory-box'), doc.hosts.length > 0 || doc.keys.length > 0);
  keyed($('#memory'), doc.hosts, host => host.name, '#t-memory', (li, host) => drawHost(li, host, heldOn, doc));
  const shown = doc.keys.slice(0, KEYS_SHOWN);
  show($('#keys-title'), shown.length > 0);
  keyed($('#keys'), shown, k => `${k.kind} ${k.circuit}`, '#t-key', (li, k) => {
    const name = k.circuitName ?? circuitName(doc, k.circuit);
    putId(field(li, 'id'), name, 24);
    const what = k.kind === 'pce' ? 'constraints' : 'proving key';
    fill(li, { bytes: size(k.bytes), note: k.evictable ? 'evictable' : '' });
    const used = k.lastUsedMs == null ? '' : `, used ${duration(k.lastUsedMs + (at - doc.at))} ago`;
    attr(li, 'title', `${name === k.circuit ? '' : `${name}, `}${k.circuit}: ${what}${used}`);
  });
}

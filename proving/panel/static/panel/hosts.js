// The hosts of the deployment: their devices, helpers, memory, versions, and when they were last heard.

import { ago, duration, plural, sizeOf } from './text.js';
import { $, attr, field, fill, icon, keyed, phone, put, putId, show } from './dom.js';
import { drawGauge } from './memory.js';
import { silenceOf } from './insight.js';

const NOWHERE = 'unknown host';

const blank = name => ({ name, devices: [], synthesis: [], finalize: [], versions: new Set(), memory: null });

/** One entry a host, by name. Pure. */
export function fleet(doc) {
  const hosts = new Map();
  const at = name => {
    const key = name ?? NOWHERE;
    if (!hosts.has(key)) hosts.set(key, blank(key));
    return hosts.get(key);
  };
  for (const worker of doc.workers) at(worker.host).devices.push(worker);
  for (const helper of doc.helpers) at(helper.host)[helper.kind === 'finalize' ? 'finalize' : 'synthesis'].push(helper);
  for (const { name, memory } of doc.hosts) if (hosts.has(name)) hosts.get(name).memory = memory;
  return [...hosts.values()].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })).map(host => {
    const all = [...host.devices, ...host.synthesis, ...host.finalize];
    const heard = all.map(w => w.lastSeenMs).filter(ms => ms != null);
    return {
      ...host,
      versions: [...new Set(all.map(w => w.version).filter(Boolean))].sort(),
      lastSeenMs: heard.length ? Math.min(...heard) : null,
      silent: all.filter(w => silenceOf(w, doc) != null).length,
    };
  });
}

const share = all => (all.length ? `${all.filter(w => w.working).length} of ${all.length}` : '–');

/** How a device stands, in one word that is also its icon's tone. */
export function standing(worker, doc) {
  if (silenceOf(worker, doc) != null) return { icon: 'silent', tone: 'warn', says: 'silent' };
  if (worker.proving) return { icon: 'gpu', tone: 'gpu', says: 'proving' };
  return { icon: 'pending', tone: 'pending', says: worker.draining ? 'idle, draining' : 'idle' };
}

function drawPill(li, worker, doc) {
  const stands = standing(worker, doc);
  icon(li, stands.icon, stands.tone);
  const doing = worker.proving ? `proving ${worker.job}${worker.index == null ? '' : ` P${worker.index}`}` : stands.says;
  const faults = worker.faults.count ? `, ${plural(worker.faults.count, 'fault')}` : '';
  fill(li, { name: worker.device, says: `, ${doing}${faults}` });
  attr(li, 'data-faulty', worker.faults.count ? '' : null);
  attr(li, 'title', [worker.name, worker.model, doing].filter(Boolean).join(' · ') + faults);
}

function seenWords(host) {
  if (host.silent) return `${plural(host.silent, 'worker')} silent`;
  return host.lastSeenMs == null ? '–' : ago(host.lastSeenMs);
}

function drawHost(tr, host, doc) {
  putId(field(tr, 'name'), host.name, phone() ? 36 : 22);
  fill(tr, { synthesis: share(host.synthesis), finalizing: share(host.finalize) });
  keyed(tr.querySelector('.pills'), host.devices, w => w.name, '#t-pill', (li, worker) => drawPill(li, worker, doc));
  const gauge = tr.querySelector('.gauge');
  show(gauge, host.memory !== null);
  if (host.memory) drawGauge(gauge, host.memory, `Memory budget of ${host.name}`, doc);
  put(tr, 'memory', host.memory ? sizeOf(host.memory.used, host.memory.total) : '–');
  const version = put(tr, 'version', host.versions.join(', ') || '–');
  attr(version, 'data-tone', host.versions.length > 1 ? 'warn' : null);
  const seen = put(tr, 'seen', seenWords(host));
  attr(seen, 'data-tone', host.silent ? 'warn' : null);
  attr(seen, 'title', host.lastSeenMs == null ? null : `${duration(host.lastSeenMs)} before this snapshot`);
}

/** "3 hosts, 12 devices, 2 versions". */
export function summary(doc) {
  const hosts = fleet(doc);
  const versions = new Set(hosts.flatMap(host => host.versions));
  const parts = [plural(hosts.length, 'host'), plural(doc.workers.length, 'device')];
  if (versions.size > 1) parts.push(plural(versions.size, 'version'));
  return parts.join(', ');
}

export function drawHosts(doc, shown) {
  const table = $('#hosts');
  show(table, shown);
  if (shown) keyed(table.tBodies[0], fleet(doc), host => host.name, '#t-host', (tr, host) => drawHost(tr, host, doc));
}

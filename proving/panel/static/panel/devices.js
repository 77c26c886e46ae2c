// The devices and the helpers beside them: what each does right now, and its last minutes.

import { circuitName, spans } from './model.js';
import { faultStory, silenceOf } from './insight.js';
import { duration, plural, sizeOf } from './text.js';
import { $, attr, field, fill, goTo, icon, keyed, put, putId, show } from './dom.js';
import { strip } from './lanes.js';
import { drawGauge } from './memory.js';
import { standing } from './hosts.js';
import { workWords } from './rows.js';

const DEVICES_SHOWN = 6;
const RECENT_MS = 300e3;

const HELPER_KINDS = { synthesis: 'Synthesis', finalize: 'Finalizing' };

/** The last minutes, or all of them where the service is younger. */
function recentSpan(doc, at) {
  const age = doc.uptimeMs > 0 ? doc.uptimeMs + (at - doc.at) : RECENT_MS;
  return Math.max(1000, Math.min(RECENT_MS, age));
}

function busyShare(history, from, at) {
  const inside = s => Math.max(0, Math.min(s.to ?? at, at) - Math.max(s.from ?? at, from));
  return Math.min(1, history.reduce((sum, s) => sum + inside(s), 0) / (at - from));
}

function sinceWords(worker, doc, at) {
  const silence = silenceOf(worker, doc);
  if (silence != null) return `silent ${duration(silence)}`;
  if (worker.proving) return worker.busyMs == null ? '' : duration(at - doc.at + worker.busyMs);
  return worker.idleSince == null ? '' : duration(at - worker.idleSince);
}

function drawDevice(li, worker, doc, at) {
  const { proving, memory } = worker;
  const from = at - recentSpan(doc, at);
  const history = spans(worker, at, doc.at);
  const stands = standing(worker, doc);
  icon(li, stands.icon, stands.tone);
  const where = [worker.host, worker.model].filter(Boolean).join(' · ');
  attr(put(li, 'where', where), 'title', [worker.name, where].filter(Boolean).join(' · '));
  const share = worker.spans ? `${Math.round(busyShare(history, from, at) * 100)} %` : '';
  fill(li, { name: worker.device, busy: share, secs: sinceWords(worker, doc, at), fault: worker.faults.count ? plural(worker.faults.count, 'fault') : '' });
  attr(field(li, 'secs'), 'data-tone', stands.tone === 'warn' ? 'warn' : null);
  attr(field(li, 'fault'), 'title', faultStory(worker));
  const idle = worker.draining ? 'idle, draining' : 'idle';
  goTo(put(li, 'work', proving ? workWords(worker, 24) : idle), worker.job, doc);
  attr(li, 'data-proving', proving ? '' : null);
  show(li.querySelector('.memory'), memory !== null);
  if (memory) {
    drawGauge(li.querySelector('.gauge'), memory, `Memory of ${worker.name}`, doc);
    const keys = worker.keys.length ? `resident keys: ${worker.keys.map(key => circuitName(doc, key)).join(', ')}` : null;
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
  const shown = doc.workers.slice(0, DEVICES_SHOWN);
  keyed($('#devices'), shown, w => w.name, '#t-device', (li, worker) => drawDevice(li, worker, doc, at));
  const more = $('#devices-more');
  show(more, shown.length < doc.workers.length);
  const text = `All ${doc.workers.length} devices, by host`;
  if (more.textContent !== text) more.textContent = text;
}

function drawHelper(li, helper) {
  putId(field(li, 'id'), helper.name, 22);
  attr(put(li, 'work', helper.working ? workWords(helper, 12) : 'idle'), 'title', helper.job);
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

// What waits by priority, how fast it goes, and what was counted since the start.

import { duration, count, clock, plural } from './text.js';
import { $, attr, field, fill, keyed, put, show } from './dom.js';
import { rates } from './insight.js';

/** A line a priority, always all four, so that nothing moves when one is emptied. */
export function drawQueue(doc, { at }) {
  const waiting = doc.queue.reduce((sum, line) => sum + line.pending + line.waiting, 0);
  put($('#queue-box'), 'n', waiting ? plural(waiting, 'partition') : 'empty');
  keyed($('#queue').tBodies[0], doc.queue, line => line.name, '#t-queue', (tr, line) => {
    fill(tr, {
      name: line.name,
      pending: count(line.pending),
      waiting: count(line.waiting),
      oldest: line.oldest == null ? '–' : duration(at - line.oldest),
    });
    attr(tr, 'data-zero', line.jobs ? null : '');
    attr(tr, 'title', `${plural(line.jobs, 'job')} of ${line.name} priority wait`);
  });
}

/** How fast it goes, read off the devices' own history. */
export function drawRates(doc, { at }) {
  const found = rates(doc, at);
  show($('#rates'), found !== null);
  show($('#rates-title'), found !== null);
  if (!found) return;
  put($('#counters-box'), 'span', found.whole ? 'last 5 min' : 'since the start');
  fill($('#rates'), {
    rate: found.perMinute >= 100 ? count(Math.round(found.perMinute)) : found.perMinute.toFixed(1),
    mean: found.meanMs == null ? '–' : duration(found.meanMs),
    bad: `${found.bad} of ${found.ended}`,
  });
  attr(field($('#rates'), 'bad'), 'data-tone', found.bad ? 'bad' : null);
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

// What the numbers mean: the bottleneck, the sentence at the top, what needs attention. Pure functions of
// a read document and a moment.

import { duration, plural, size } from './text.js';
import { NAMES } from './model.js';

/** A free device beside a waiting partition is normal for a moment: the message is on its way. */
export const PATIENCE_MS = 5000;
/** Between two partitions a device is free for less than this; a shorter wait is no queue. */
const BETWEEN_MS = 1500;
/** Where the document does not say how long a lease is. */
export const SILENCE_MS = 10_000;
/** The devices' history is told for a quarter of an hour; the rates are those of its last part. */
const RATES_MS = 300_000;
/** A device tells of no more assignments than this. */
const LONGEST_HISTORY = 256;

/** How long a worker has been silent, where that is longer than a lease: even idle ones report several times in it. */
export function silenceOf(worker, doc) {
  return worker.lastSeenMs > (doc.leaseMs ?? SILENCE_MS) ? worker.lastSeenMs : null;
}

/** Since when the history of a worker is whole, within the last minutes. */
function toldSince(worker, doc, at) {
  const born = doc.uptimeMs > 0 ? doc.at - doc.uptimeMs : -Infinity;
  const cut = worker.spans.length >= LONGEST_HISTORY ? (worker.spans[0].from ?? at) : -Infinity;
  return Math.max(at - RATES_MS, born, cut);
}

/**
 * Proofs a minute, their mean time on a device, and how many attempts of the last minutes ended badly; null where
 * devices tell no history.
 */
export function rates(doc, at) {
  const telling = doc.workers.filter(w => w.spans);
  if (!telling.length) return null;
  const found = { perMinute: 0, meanMs: null, bad: 0, ended: 0, whole: !(doc.uptimeMs < RATES_MS) };
  let [proofs, spent] = [0, 0];
  for (const worker of telling) {
    const from = toldSince(worker, doc, at);
    const ended = worker.spans.filter(s => s.to != null && s.to > from);
    const done = ended.filter(s => s.outcome === 'done');
    found.perMinute += done.length / Math.max(1 / 60, (at - from) / 60_000);
    found.ended += ended.length;
    found.bad += ended.filter(s => s.outcome === 'lost' || s.outcome === 'failed').length;
    proofs += done.length;
    spent += done.reduce((sum, s) => sum + (s.to - s.from), 0);
  }
  if (proofs) found.meanMs = spent / proofs;
  return found;
}

export function busyWorkers(doc) {
  return doc.workers.filter(w => w.proving).length;
}

export function activeCount(doc) {
  const { pending, synthesizing, synth_done, gpu, finalizing } = doc.phases;
  return [pending, synthesizing, synth_done, gpu, finalizing].reduce((sum, phase) => sum + phase.count, 0);
}

export function oldestAge(doc, phase, at) {
  const { oldest } = doc.phases[phase];
  return oldest == null ? null : Math.max(0, at - oldest);
}

/** How long a device has been free; Infinity where the document does not say since when. */
const freeFor = (worker, at) => (worker.idleSince == null ? Infinity : at - worker.idleSince);

/** How many partitions wait longer than `patience`, where a device has been free for as long, and where none has. */
function waitingLonger(doc, at, patience) {
  const free = new Set(doc.workers.filter(w => !w.proving && freeFor(w, at) > patience).map(w => w.host));
  const found = { beside: 0, queued: 0 };
  for (const [host, { count, oldest }] of doc.waiting) {
    const reachable = host == null ? free.size > 0 : free.has(host);
    if (at - oldest > patience) found[reachable ? 'beside' : 'queued'] += count;
  }
  return found;
}

/** Partitions that wait although a device is free, both for longer than a message takes. */
export const overlooked = (doc, at) => waitingLonger(doc, at, PATIENCE_MS).beside;

/** The phase that holds everything up, or null. */
export function bottleneck(doc, at) {
  const n = phase => doc.phases[phase].count;
  if (overlooked(doc, at)) return 'synth_done';
  if (waitingLonger(doc, at, BETWEEN_MS).queued) return 'gpu';
  if (n('finalizing') > 4 * Math.max(1, n('gpu'))) return 'finalizing';
  const starving = doc.workers.some(w => !w.proving && freeFor(w, at) > BETWEEN_MS);
  return starving && (n('synthesizing') || n('pending')) ? 'synthesizing' : null;
}

function devices(n, what) {
  return { 1: `The device is ${what}.`, 2: `Both devices ${what}.` }[n] ?? `All ${n} devices ${what}.`;
}

function devicesSentence(doc, at) {
  const all = doc.workers.length;
  if (all === 0) return 'No device is connected.';
  const free = doc.workers.filter(w => !w.proving);
  if (free.length === 0) return devices(all, 'busy');
  const changing = doc.phases.synth_done.count > 0 && free.every(w => freeFor(w, at) < BETWEEN_MS);
  const what = changing ? 'between partitions' : 'idle';
  return free.length === all ? devices(all, what) : `${free.length} of ${plural(all, 'device')} ${what}.`;
}

function readySentence(doc) {
  const all = doc.workers.length;
  if (all === 0) return 'No device is connected.';
  return all === 1 ? 'The device is idle and ready.' : `${plural(all, 'device')} idle and ready.`;
}

function bottleneckSentence(doc, at) {
  const waiting = doc.phases.synth_done.count;
  const wait = plural(waiting, 'partition waits', 'partitions wait');
  const age = oldestAge(doc, 'synth_done', at);
  const oldest = age == null ? '' : `, the oldest for ${duration(age)}`;
  switch (bottleneck(doc, at)) {
    case 'gpu':
      return doc.workers.length ? `Device time is the bottleneck: ${wait}${oldest}.` : `${wait} for a device${oldest}.`;
    case 'synth_done':
      return `${plural(overlooked(doc, at), 'partition waits', 'partitions wait')} although a device is free${oldest}.`;
    case 'synthesizing':
      return doc.phases.synthesizing.count
        ? 'Synthesis is the bottleneck: devices wait for work.'
        : `${plural(doc.phases.pending.count, 'partition')} pending, none is being synthesized.`;
    case 'finalizing':
      return 'Finalizing is the bottleneck.';
    default:
      return doc.workers.length ? 'No bottleneck.' : `${plural(activeCount(doc), 'partition')} in hand.`;
  }
}

function troubles(doc) {
  const held = heldJobs(doc);
  const failed = doc.phases.failed.count;
  const parts = [];
  if (failed) parts.push(`${plural(failed, 'partition')} failed`);
  if (held.length) parts.push(`${plural(held.length, 'job')} held back`);
  return parts.length ? ` ${parts.join(', ')}.` : '';
}

export const heldJobs = doc => doc.jobs.filter(job => job.waitingFor);

/** The first thing to read: a lead in a few words, and the rest of it. */
export function verdict(doc, at) {
  if (activeCount(doc) === 0) {
    // a device may still be handing off what the jobs no longer show
    const rest = busyWorkers(doc) ? devicesSentence(doc, at) : readySentence(doc);
    return { lead: 'Nothing to prove.', rest: rest + troubles(doc) };
  }
  return { lead: devicesSentence(doc, at), rest: bottleneckSentence(doc, at) + troubles(doc) };
}

function heldText({ resource, host, needs_bytes: needs, free_bytes: free }) {
  const scarce = String(resource ?? 'memory').replaceAll('_', ' ');
  const what = needs == null ? `waits for ${scarce}` : `needs ${size(needs)}`;
  const where = host ?? 'the budget';
  return free == null ? `${what} on ${where}` : `${what}; ${where} has ${size(Math.max(0, free))} free`;
}

const OUTCOMES = { lost: 'was lost', released: 'was handed back', failed: 'failed' };

/** What became of an earlier attempt, with the reason where the document gives one. */
export function attemptStory({ attempt, worker, outcome, error }) {
  const ended = OUTCOMES[outcome] ?? 'did not end';
  const where = worker == null ? '' : ` on ${worker}`;
  const reason = error == null || error === outcome ? '' : `: ${error}`;
  return `Attempt ${attempt ?? 'before'}${where} ${ended}${reason}`;
}

function partitionTroubles(job, p) {
  const item = { id: job.id, key: `${job.id} ${p.index}` };
  if (p.state === 'failed') {
    const text = p.error ?? 'The status document gives no reason.';
    return [{ ...item, tone: 'failed', icon: 'failed', title: `P${p.index} failed`, text }];
  }
  if (!(p.attempt > 1) || p.state === 'done' || p.state === 'cancelled') return [];
  const earlier = p.past.at(-1);
  const text = earlier ? attemptStory(earlier) : 'An earlier attempt did not end';
  return [{ ...item, tone: 'warn', icon: 'retry', title: `P${p.index} on attempt ${p.attempt}`, text }];
}

function jobTroubles(job) {
  const item = { id: job.id, key: job.id };
  const wanted = job.state === 'cancelled' || job.state === 'cancelling'; // somebody asked for it: no trouble
  if (job.error && !job.counts.failed && !wanted) {
    return [{ ...item, tone: 'failed', icon: 'failed', title: 'Job failed', text: job.error }];
  }
  if (!job.waitingFor) return [];
  return [{ ...item, tone: 'warn', icon: 'memory', title: 'Held back', text: heldText(job.waitingFor) }];
}

function silence(worker, doc) {
  const length = silenceOf(worker, doc);
  if (length == null) return [];
  const text = `It was last heard ${duration(length)} before this snapshot.`;
  const key = `silent ${worker.name}`;
  return [{ id: worker.name, key, tone: 'warn', icon: 'silent', title: 'Silent worker', text }];
}

/** A device's results were wrong lately: worth a look for an hour. */
const FAULT_MS = 3600e3;

export const faultStory = ({ faults }) =>
  faults.count ? `${plural(faults.count, 'result')} of it did not verify${faults.text ? `; the last: ${faults.text}` : ''}` : null;

function faultyDevice(worker, doc) {
  const { count, at } = worker.faults;
  if (!count || (at != null && doc.at - at > FAULT_MS)) return [];
  const item = { id: worker.name, key: `fault ${worker.name}`, tone: 'failed', icon: 'fault', title: 'Device fault' };
  return [{ ...item, text: faultStory(worker) }];
}

/** A document is asked again at each redraw and stays the same: its troubles are found once. */
const troublesOf = new WeakMap();

/** Failures first, then what is late or held; each with the reason as the server gave it. */
export function attention(doc) {
  const known = troublesOf.get(doc);
  if (known) return known;
  const items = [
    ...[...doc.workers, ...doc.helpers].flatMap(worker => silence(worker, doc)),
    ...doc.workers.flatMap(worker => faultyDevice(worker, doc)),
    ...doc.jobs.flatMap(job => [...job.partitions.flatMap(p => partitionTroubles(job, p)), ...jobTroubles(job)]),
  ];
  const rank = item => (item.tone === 'failed' ? 0 : 1);
  items.sort((a, b) => rank(a) - rank(b));
  troublesOf.set(doc, items);
  return items;
}

/**
 * Where the document disagrees with itself, in words. A device and the partition it proves are told twice in
 * it, once from either side; the two must say the same.
 */
export function contradictions(doc) {
  const found = [];
  const jobs = new Map(doc.jobs.map(job => [job.id, job]));
  const claimed = new Set();
  for (const w of doc.workers.filter(worker => worker.proving)) {
    const job = jobs.get(w.job);
    const p = job?.partitions.find(partition => partition.index === w.index);
    claimed.add(`${w.job} ${w.index}`);
    if (!job || job.summarized || p?.state === 'gpu') continue;
    const stands = p ? `stands as ${(NAMES[p.state] ?? p.state).toLowerCase()}` : 'does not exist';
    found.push(`${w.name} is proving P${w.index} of ${w.job}, which ${stands}`);
  }
  for (const job of doc.jobs) {
    for (const p of job.partitions) {
      if (p.state !== 'gpu' || claimed.has(`${job.id} ${p.index}`)) continue;
      found.push(`P${p.index} of ${job.id} is on a device, but no device is proving it`);
    }
  }
  return found;
}

// The status document, read once into plain values. Pure: no page, no clock.
// What the document does not say becomes null here and stays unsaid on the page.

export const NAMES = {
  pending: 'Pending',
  synthesizing: 'Synthesizing',
  synth_done: 'Waiting',
  gpu: 'Device',
  finalizing: 'Finalizing',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
export const STATES = Object.keys(NAMES);
export const PHASES = STATES.slice(0, 6);
/** The order of phases inside one bar, furthest first. */
export const MIX = ['done', 'finalizing', 'gpu', 'synth_done', 'synthesizing', 'failed', 'cancelled'];
export const isTerminal = state => state === 'done' || state === 'failed' || state === 'cancelled';

const PRIORITY_NUMBERS = { 1: 'low', 2: 'normal', 3: 'high', 4: 'critical' };
/** The first in line first. */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'];
/** What a device proves for somebody whose jobs the reader may not see. */
export const FOREIGN = 'another owner’s job';

/** Epoch seconds or ISO 8601 text to milliseconds; null where there is no time. */
export function time(value) {
  if (value == null || value === '') return null;
  const ms = typeof value === 'number' ? value * 1000 : Date.parse(value);
  return Number.isFinite(ms) ? ms : null;
}

const number = value => (Number.isFinite(value) ? value : null);
const seconds = value => (Number.isFinite(value) ? value * 1000 : null);
const ago = (secs, at) => (Number.isFinite(secs) && at != null ? at - secs * 1000 : null);
const isOver = partition => isTerminal(partition.state);
const list = value => (Array.isArray(value) ? value : []);
const total = counts => Object.values(counts ?? {}).reduce((sum, n) => sum + n, 0);

function readTimes(raw) {
  return {
    queued: time(raw.queued_at),
    synthStart: time(raw.synth_started_at),
    synthEnd: time(raw.synth_ended_at),
    waitStart: time(raw.wait_started_at) ?? time(raw.synth_ended_at),
    gpuStart: time(raw.gpu_started_at),
    gpuEnd: time(raw.gpu_ended_at),
    end: time(raw.finished_at ?? raw.ended_at),
  };
}

function readPartition(raw) {
  return {
    index: raw.index,
    state: raw.state,
    attempt: number(raw.attempt),
    maxAttempts: number(raw.max_attempts),
    worker: raw.worker ?? null,
    error: raw.error ?? null,
    times: readTimes(raw),
    synthMs: number(raw.synth_ms),
    gpuMs: number(raw.gpu_ms),
    past: list(raw.history).map(h => ({
      attempt: number(h.attempt),
      outcome: h.outcome ?? null,
      worker: h.worker ?? null,
      error: h.error ?? null,
      times: readTimes(h),
    })),
  };
}

function readJob(raw, at) {
  const partitions = list(raw.partitions).map(readPartition);
  const counts = {};
  for (const p of partitions) counts[p.state] = (counts[p.state] ?? 0) + 1;
  // past a size limit the document sends jobs that only wait as a number
  const summarized = partitions.length === 0 && raw.total_partitions > 0;
  if (summarized) Object.assign(counts, raw.counts ?? { pending: raw.total_partitions });
  return {
    id: raw.job_id,
    state: raw.state ?? null,
    error: raw.error ?? null,
    kind: raw.proof_kind ?? '',
    label: raw.label ?? '',
    priority: PRIORITY_NUMBERS[raw.priority] ?? raw.priority ?? null,
    circuit: raw.circuit_id ?? null,
    circuitName: raw.circuit_name || raw.circuit_id || '',
    submitted: time(raw.submitted_at) ?? ago(raw.started_secs_ago, at),
    due: time(raw.deadline),
    eta: time(raw.eta_at),
    waitingFor: raw.waiting_for ?? null,
    size: raw.total_partitions ?? partitions.length,
    done: raw.partitions_done ?? counts.done ?? 0,
    counts,
    partitions,
    summarized,
    ended: raw.state == null ? partitions.length > 0 && partitions.every(isOver) : isTerminal(raw.state),
  };
}

function readSpan(raw) {
  const [job, index, attempt, from, to, outcome] = Array.isArray(raw)
    ? raw
    : [raw.job ?? raw.job_id, raw.partition ?? raw.index, raw.attempt, raw.from, raw.to, raw.outcome];
  return { job: job ?? FOREIGN, index, attempt, from: time(from), to: time(to), outcome };
}

function readOccupant(raw) {
  return {
    kind: raw.kind,
    owner: raw.job_id ?? raw.circuit_id ?? raw.key_id ?? null,
    bytes: raw.bytes ?? 0,
    evictable: raw.evictable === true,
  };
}

function readMemory(raw) {
  if (!raw || !(raw.total_bytes > 0)) return null;
  const occupants = list(raw.occupants).map(readOccupant);
  const used = raw.used_bytes ?? occupants.reduce((sum, o) => sum + o.bytes, 0);
  return { total: raw.total_bytes, used, free: raw.available_bytes ?? Math.max(0, raw.total_bytes - used), occupants };
}

/** How often the results of a device were wrong, and the last time in words. */
function readFaults(raw) {
  return { count: raw?.count ?? 0, at: time(raw?.last_at), text: raw?.last_reason ?? null };
}

function readWorker(raw) {
  const proving = raw.state === 'proving';
  return {
    id: raw.worker_id,
    name: raw.name ?? `worker ${raw.worker_id}`,
    device: raw.device ?? (raw.gpu_ordinal == null ? 'device' : `cuda:${raw.gpu_ordinal}`),
    host: raw.host ?? null,
    model: raw.model ?? null,
    version: raw.version || null,
    proving,
    job: raw.current_job ?? (proving ? FOREIGN : null),
    index: number(raw.current_partition),
    busyMs: seconds(raw.busy_secs),
    lastSeenMs: seconds(raw.last_seen_secs_ago),
    idleSince: time(raw.idle_since),
    draining: raw.draining === true,
    faults: readFaults(raw.faults),
    utilisation: number(raw.utilisation),
    keys: list(raw.resident_keys).map(k => (typeof k === 'string' ? k : (k.circuit_id ?? k.key_id ?? ''))),
    memory: readMemory(raw.memory),
    spans: Array.isArray(raw.recent) ? raw.recent.map(readSpan) : null,
  };
}

function readHelper(raw) {
  const working = raw.state === 'working';
  return {
    name: raw.name,
    kind: raw.kind,
    host: raw.host ?? null,
    version: raw.version || null,
    working,
    job: raw.current_job ?? (working ? FOREIGN : null),
    index: number(raw.current_partition),
    lastSeenMs: seconds(raw.last_seen_secs_ago),
    draining: raw.draining === true,
  };
}

function readHosts(raw) {
  if (!raw) return [];
  const hosts = list(raw.hosts).map(h => ({ name: h.host, memory: readMemory(h) }));
  const whole = { name: 'All hosts', memory: readMemory(raw) };
  return (hosts.length ? hosts : [whole]).filter(h => h.memory);
}

function readKeys(raw) {
  return ['srs', 'pce'].flatMap(kind =>
    list(raw?.[kind]).map(a => ({
      kind,
      circuit: a.circuit_id,
      circuitName: a.circuit_name || null,
      bytes: a.bytes ?? 0,
      lastUsedMs: seconds(a.last_used_secs_ago),
      evictable: a.evictable === true,
    })),
  );
}

function readCounters(raw) {
  const kinds = new Set([...Object.keys(raw?.completed_by_kind ?? {}), ...Object.keys(raw?.failed_by_kind ?? {})]);
  const refused = raw?.stale_writes_total;
  return {
    completed: number(raw?.total_completed),
    failed: number(raw?.total_failed),
    cancelled: number(raw?.total_cancelled),
    queueDepth: number(raw?.queue_depth),
    staleWrites: refused != null && typeof refused === 'object' ? total(refused) : number(refused),
    byKind: [...kinds].sort().map(kind => ({
      kind,
      completed: raw.completed_by_kind?.[kind] ?? 0,
      failed: raw.failed_by_kind?.[kind] ?? 0,
    })),
  };
}

/** When the phase that the partition is in began, or when it ended. */
export function since(p) {
  const began = {
    pending: p.times.queued,
    synthesizing: p.times.synthStart,
    synth_done: p.times.waitStart,
    gpu: p.times.gpuStart,
    finalizing: p.times.gpuEnd,
  };
  return p.state in began ? began[p.state] : p.times.end;
}

/** Milliseconds in the open phase, or from queueing to the end; null when the document gives no time for it. */
export function age(p, at, readAt) {
  const { queued, end } = p.times;
  if (isTerminal(p.state)) return queued != null && end != null ? end - queued : null;
  const began = since(p);
  if (began != null) return at - began;
  const sent = { synthesizing: p.synthMs, gpu: p.gpuMs }[p.state];
  return sent == null ? null : sent + (at - readAt);
}

function attemptSegments(t, state, at) {
  const segments = [];
  const add = (phase, from, to) => {
    const last = to ?? t.end ?? (phase === state ? at : null);
    if (from != null && last != null && last > from) segments.push({ phase, from, to: last, lost: false });
  };
  add('pending', t.queued, t.synthStart);
  add('synthesizing', t.synthStart, t.synthEnd);
  add('synth_done', t.waitStart, t.gpuStart);
  add('gpu', t.gpuStart, t.gpuEnd);
  add('finalizing', t.gpuEnd, t.end);
  return segments;
}

/** Phases that begin with waiting: of a repeated attempt, they begin when the one before has ended. */
const WAITING = new Set(['pending', 'synth_done', 'finalizing']);

/** The phases of a partition on the time axis, earlier attempts first; only the phase it is in grows to `at`. */
export function segments(p, at) {
  const out = [];
  const drawn = new Set(); // a phase that attempts share, such as a kept synthesis, is drawn once
  let before = -Infinity; // when the attempt before ended
  const add = (attempt, lost) => {
    for (const s of attempt) {
      if (WAITING.has(s.phase)) s.from = Math.max(s.from, before);
      const key = `${s.phase} ${s.from}`;
      if (s.to <= s.from || drawn.has(key)) continue;
      drawn.add(key);
      out.push(s);
    }
    if (lost && attempt.length) attempt.at(-1).lost = true;
  };
  for (const h of p.past) {
    add(attemptSegments(h.times, null, at), true);
    before = Math.max(before, h.times.end ?? before);
  }
  add(attemptSegments(p.times, p.state, at), false);
  return out;
}

/** A worker's assignments on the time axis, the live one last and open; null when the document keeps no history. */
export function spans(worker, at, readAt) {
  const past = worker.spans ?? [];
  if (!worker.proving || worker.busyMs == null) return past;
  return [...past, { job: worker.job, index: worker.index, from: readAt - worker.busyMs, to: at, open: true }];
}

function countPhases(jobs) {
  const phases = Object.fromEntries(STATES.map(state => [state, { count: 0, oldest: null }]));
  for (const job of jobs) {
    for (const [state, n] of Object.entries(job.counts)) {
      if (phases[state]) phases[state].count += n;
    }
    for (const p of job.partitions) {
      const began = since(p);
      const phase = phases[p.state];
      if (phase && began != null && (phase.oldest == null || began < phase.oldest)) phase.oldest = began;
    }
  }
  return phases;
}

/** What a circuit is called by the live jobs that use it; else its id. */
export const circuitName = (doc, id) => doc.circuits.get(id) || id;

/** "gpu0@host", "synthesis@host/1": evaluations lie on the host that made them. */
const hostOf = worker => worker?.split('@')[1]?.split('/')[0] ?? null;

/** How many partitions wait for a device since when, by the host that they wait on; null for an unknown host. */
function countWaiting(jobs) {
  const hosts = new Map();
  for (const p of jobs.flatMap(job => job.partitions)) {
    if (p.state !== 'synth_done') continue;
    const host = hostOf(p.worker);
    const { count, oldest } = hosts.get(host) ?? { count: 0, oldest: Infinity };
    hosts.set(host, { count: count + 1, oldest: Math.min(oldest, since(p) ?? Infinity) });
  }
  return hosts;
}

/** What waits, by priority: for synthesis, for a device, and since when the oldest of it. */
function countQueue(jobs) {
  const queue = new Map(PRIORITIES.map(name => [name, { name, jobs: 0, pending: 0, waiting: 0, oldest: null }]));
  for (const job of jobs) {
    const { pending = 0, synth_done: waiting = 0 } = job.counts;
    if (!pending && !waiting) continue;
    const line = queue.get(job.priority) ?? queue.get('normal');
    line.jobs += 1;
    line.pending += pending;
    line.waiting += waiting;
    const began = job.partitions.filter(p => p.state === 'pending' || p.state === 'synth_done').map(since);
    for (const t of [...began, job.summarized ? job.submitted : null]) {
      if (t != null && !(t >= line.oldest && line.oldest != null)) line.oldest = t;
    }
  }
  return [...queue.values()];
}

export function readDocument(raw) {
  const at = time(raw.generated_at);
  const jobs = list(raw.pipelines).map(job => readJob(job, at));
  return {
    at,
    rev: raw.rev ?? null,
    consistent: raw.consistent !== false,
    uptimeMs: seconds(raw.uptime_secs),
    jobs,
    leaseMs: seconds(raw.lease_secs),
    phases: countPhases(jobs),
    queue: countQueue(jobs),
    retries: jobs.reduce((sum, job) => sum + job.partitions.reduce((n, p) => n + p.past.length, 0), 0),
    circuits: new Map(jobs.map(job => [job.circuit, job.circuitName])),
    waiting: countWaiting(jobs),
    partitionCount: jobs.reduce((sum, job) => sum + job.size, 0),
    workers: list(raw.gpu_workers).map(readWorker),
    helpers: list(raw.workers).map(readHelper),
    hosts: readHosts(raw.memory),
    synthesis: { active: number(raw.synthesis?.active), slots: number(raw.synthesis?.max_concurrent) },
    keys: readKeys(raw.allocations),
    counters: readCounters(raw.counters),
    buffers: Object.entries(raw.buffers ?? {}).filter(([, n]) => Number.isFinite(n)),
  };
}

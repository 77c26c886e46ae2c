// What has ended: finished jobs and bad ends of attempts. Rows of the database, asked for when the counters move.

import { time } from './model.js';

const LIMIT = 200;
const ANSWER_WITHIN_MS = 10_000;
/** The counters move a moment before the row is written: it is asked again this much later. */
const AGAIN_MS = 2500;
/** Without news it is asked this often all the same. */
const IDLE_MS = 60_000;

function readFinished(raw) {
  const [submitted, started, ended] = [time(raw.submitted_at), time(raw.started_at), time(raw.finished_at)];
  return {
    id: raw.job_id,
    label: raw.label ?? '',
    circuit: raw.circuit_name || raw.circuit_id || '',
    kind: raw.proof_kind ?? '',
    state: raw.state,
    size: raw.total_partitions ?? 0,
    done: raw.partitions_done ?? 0,
    attempts: raw.attempts ?? 1,
    submitted,
    ended,
    tookMs: submitted == null || ended == null ? null : ended - submitted,
    waitedMs: submitted == null || started == null ? null : started - submitted,
    error: raw.error ? { partition: raw.error.partition ?? null, code: raw.error.code, text: raw.error.detail } : null,
  };
}

function readFailure(raw) {
  return {
    key: `${raw.job_id} ${raw.partition} ${raw.attempt}`,
    id: raw.job_id,
    circuit: raw.circuit_name || raw.circuit_id || '',
    index: raw.partition,
    attempt: raw.attempt,
    outcome: raw.outcome,
    worker: raw.worker || '',
    text: raw.detail || raw.code || '',
    ended: time(raw.ended_at),
  };
}

const list = value => (Array.isArray(value) ? value : []);

/** Whether a finished job is among those that the reader asked for. */
export function matches(job, { ended, sought }) {
  if (ended !== 'all' && job.state !== ended) return false;
  const words = sought.trim().toLowerCase();
  return !words || [job.id, job.label, job.circuit].some(text => text.toLowerCase().includes(words));
}

/** Changes when a job has ended or an attempt was lost. */
function stampOf(doc) {
  const { completed, failed, cancelled } = doc.counters;
  return [completed, failed, cancelled, doc.retries].join(' ');
}

export class History {
  finished = null;
  failures = [];
  fault = null;
  #stamp = null;
  #asking = false;
  #dueAt = -Infinity;

  constructor(url, { fetch = (...request) => globalThis.fetch(...request), now = () => performance.now() } = {}) {
    this.url = url;
    this.fetch = fetch;
    this.now = now;
  }

  /** Ask where the document says that there is news, or enough time has passed. Whether anything came of it. */
  async follow(doc, filter) {
    const stamp = `${stampOf(doc)} ${filter.ended} ${filter.sought}`;
    const moved = stamp !== this.#stamp;
    if (this.#asking || (!moved && this.now() < this.#dueAt)) return false;
    this.#stamp = stamp;
    this.#asking = true;
    this.#dueAt = this.now() + (moved ? AGAIN_MS : IDLE_MS);
    try {
      await this.#ask(filter);
    } finally {
      this.#asking = false;
    }
    return true;
  }

  async #ask({ ended, sought }) {
    const query = new URLSearchParams({ limit: LIMIT });
    if (ended !== 'all') query.set('state', ended);
    if (sought.trim()) query.set('text', sought.trim());
    try {
      const response = await this.fetch(`${this.url}?${query}`, {
        headers: { Accept: 'application/json' },
        credentials: 'same-origin',
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      const raw = await response.json();
      this.finished = list(raw.finished).map(readFinished);
      this.failures = list(raw.failures).map(readFailure);
      this.fault = null;
    } catch (error) {
      this.fault = error.message.startsWith('it answers') ? error.message : 'it does not answer';
    }
  }
}

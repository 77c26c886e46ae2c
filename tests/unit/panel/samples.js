// Small status documents, written out by hand.

export const T0 = 1_800_000_000; // seconds

export function partition(index, state, times = {}, more = {}) {
  return { index, state, attempt: 1, max_attempts: 3, queued_at: T0, ...times, ...more };
}

export const waiting = (index, since, host = 'a') =>
  partition(index, 'synth_done', { synth_started_at: T0 + 1, synth_ended_at: since }, { worker: `synthesis@${host}/1` });

export const proving = (index, since) =>
  partition(index, 'gpu', { synth_started_at: T0 + 1, synth_ended_at: T0 + 2, gpu_started_at: since }, { worker: 'gpu0@a' });

export function job(id, partitions, more = {}) {
  return {
    job_id: id,
    proof_kind: 'groth16',
    total_partitions: partitions.length,
    partitions_done: partitions.filter(p => p.state === 'done').length,
    submitted_at: T0,
    partitions,
    ...more,
  };
}

export function worker(n, current = null, more = {}) {
  const [current_job, current_partition] = current ?? [null, null];
  const state = current ? 'proving' : 'idle';
  return { worker_id: n, name: `gpu${n}@a`, host: 'a', device: `cuda:${n}`, state, current_job, current_partition, busy_secs: 3, ...more };
}

export function status(jobs = [], workers = [], more = {}) {
  return { rev: 7, generated_at: T0 + 60, uptime_secs: 60, pipelines: jobs, gpu_workers: workers, ...more };
}

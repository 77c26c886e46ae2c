// What the reader chose. Nothing else is remembered between two snapshots.

export const WINDOWS = [1, 5, 15, 60];

const query = new URLSearchParams(location.search);

function recall(name) {
  try {
    return localStorage.getItem(`cuzkweb.${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    if (value == null) localStorage.removeItem(`cuzkweb.${name}`);
    else localStorage.setItem(`cuzkweb.${name}`, value);
  } catch {
    // private windows may refuse: the choice then lasts as long as the page
  }
}

const oneOf = (allowed, value) => (allowed.includes(value) ? value : null);
const asked = (name, allowed) => oneOf(allowed, query.get(name)) ?? oneOf(allowed, recall(name));

export const choices = {
  view: asked('view', ['jobs', 'devices']) ?? 'jobs',
  window: asked('window', ['auto', ...WINDOWS.map(String)]) ?? 'auto',
  phase: null,
  open: new Set(query.getAll('open')),
};

const AUTO_WINDOWS = [0.5, 1, 2, 5, 10, 15, 30, 60];

/** Minutes that the axis shows: as chosen, or the smallest window that holds every live job. */
export function windowMinutes(doc, at) {
  if (choices.window !== 'auto') return Number(choices.window);
  const live = doc.jobs.filter(job => !job.ended);
  const first = (live.length ? live : doc.jobs).reduce((least, job) => Math.min(least, job.submitted ?? at), at);
  const needed = (at - first) / 60000;
  return AUTO_WINDOWS.find(minutes => needed <= minutes * 0.7) ?? AUTO_WINDOWS.at(-1);
}

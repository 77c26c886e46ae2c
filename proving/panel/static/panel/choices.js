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

export const ENDED = ['all', 'done', 'failed', 'cancelled'];

export const choices = {
  view: asked('view', ['jobs', 'devices', 'hosts']) ?? 'jobs',
  window: asked('window', ['auto', ...WINDOWS.map(String)]) ?? 'auto',
  /** A stretch of the axis that the reader picked: `{ length, end }` in ms, `end` null where it moves on with time. */
  zoom: null,
  phase: null,
  open: new Set(query.getAll('open')),
  ended: asked('ended', ENDED) ?? 'all',
  sought: '',
  shortcuts: recall('shortcuts') !== 'off',
};

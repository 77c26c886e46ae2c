// Words and numbers. Pure functions, no page and no clock of their own.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const pad = n => String(n).padStart(2, '0');

export const count = n => n.toLocaleString('en');
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** 0.8 s, 12 s, 1:04, 2 h 05, 3 d 4 h. */
export function duration(ms) {
  const s = Math.max(0, ms / SECOND);
  if (s < 10) return `${(Math.floor(s * 10) / 10).toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${pad(Math.floor(s % 60))}`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${pad(Math.floor(s / 60) % 60)}`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

/** An estimate is shown coarsely, so that it does not flicker. */
export function roughly(ms) {
  if (ms < 57.5 * SECOND) return `≈ ${Math.max(5, Math.round(ms / SECOND / 5) * 5)} s`;
  if (ms < 89.5 * MINUTE) return `≈ ${Math.max(1, Math.round(ms / MINUTE))} min`;
  return ms < 36 * HOUR ? `≈ ${Math.round(ms / HOUR)} h` : `≈ ${Math.round(ms / DAY)} d`;
}

/** The reader's wall clock: 16:20:05, or 16:20 without seconds. */
export function clock(ms, withSeconds = true) {
  const d = new Date(ms);
  return `${pad(d.getHours())}:${pad(d.getMinutes())}${withSeconds ? `:${pad(d.getSeconds())}` : ''}`;
}

/** The wall clock to the tenth of a second, for a close look. */
export const fineClock = ms => `${clock(ms)}.${Math.floor((((ms % SECOND) + SECOND) % SECOND) / 100)}`;

/** How long ago, in one coarse word that need not be redrawn each second. */
export function ago(ms) {
  if (ms < 5 * SECOND) return 'just now';
  if (ms < MINUTE) return `${Math.floor(ms / SECOND / 5) * 5} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const unitOf = bytes => (bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10)));
const inUnit = (bytes, unit) => (unit === 0 ? String(Math.round(bytes)) : (bytes / 1024 ** unit).toFixed(1));

export function size(bytes) {
  const unit = unitOf(bytes);
  return `${inUnit(bytes, unit)} ${UNITS[unit]}`;
}

/** "42.6 of 48.0 GiB"; a part too small for the unit of the whole keeps its own. */
export function sizeOf(part, whole) {
  const unit = unitOf(whole);
  const small = part > 0 && part < 0.05 * 1024 ** unit;
  return `${small ? size(part) : inUnit(part, unit)} of ${inUnit(whole, unit)} ${UNITS[unit]}`;
}

/** Cut in the middle. The tail tells ids apart, so it gets the larger half. */
export function shorten(id, room) {
  const characters = Array.from(id);
  if (characters.length <= room) return id;
  if (room < 3) return characters.slice(-Math.max(1, room)).join('');
  const tail = Math.ceil((room - 1) * 0.55);
  return `${characters.slice(0, room - 1 - tail).join('')}…${characters.slice(-tail).join('')}`;
}

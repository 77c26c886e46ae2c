// Which stretch of time the axis shows: it moves on with time, or stands where the reader zoomed to. Pure functions.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const AUTO_MINUTES = [0.5, 1, 2, 5, 10, 15, 30, 60];
const SHORTEST = SECOND;
const LONGEST = 6 * 60 * MINUTE;
/** With a forecast the last part of the axis is the future; without one only a margin is left. */
const PAST_SHARE = { forecast: 0.72, margin: 0.95 };
const MOST_FUTURE = 1 - PAST_SHARE.forecast;

/** Minutes of the smallest window that holds every live job. */
function enoughMinutes(doc, at) {
  const live = doc.jobs.filter(job => !job.ended);
  const first = (live.length ? live : doc.jobs).reduce((least, job) => Math.min(least, job.submitted ?? at), at);
  const needed = (at - first) / MINUTE;
  return AUTO_MINUTES.find(minutes => needed <= minutes * 0.7) ?? AUTO_MINUTES.at(-1);
}

/** `{ start, length, fixed }` in milliseconds of the server's time. */
export function spanOf(doc, { now, at }, { view, window, zoom }) {
  if (zoom?.end != null) return { start: zoom.end - zoom.length, length: zoom.length, fixed: true };
  const chosen = window === 'auto' ? enoughMinutes(doc, at) : Number(window);
  const length = zoom?.length ?? chosen * MINUTE;
  const foreseen = view === 'jobs' && doc.jobs.some(job => job.eta != null || job.due > now);
  return { start: now - length * PAST_SHARE[foreseen ? 'forecast' : 'margin'], length, fixed: false };
}

const within = length => Math.min(LONGEST, Math.max(SHORTEST, length));
const fixed = (start, length, now) => ({ length, end: Math.min(start + length, now + MOST_FUTURE * length) });

/** The zoom after changing the length by `factor`; `share` is the place on the axis, 0 to 1, that keeps its time. */
export function zoomed(span, factor, now, share = null) {
  const length = within(span.length * factor);
  if (share == null && !span.fixed) return { length, end: null };
  const keep = share ?? 0.5;
  return fixed(span.start + keep * (span.length - length), length, now);
}

/** The zoom after moving along the axis by a share of its length. */
export const panned = (span, share, now) => fixed(span.start + share * span.length, span.length, now);

/** The zoom to what lies between two places on the axis. */
export function picked(span, from, to, now) {
  const [left, right] = [Math.min(from, to), Math.max(from, to)];
  const length = within((right - left) * span.length);
  return fixed(span.start + left * span.length, length, now);
}

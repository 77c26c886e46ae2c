// The lists of what has ended: recent failures with their reasons, and finished jobs with a filter.

import { NAMES } from './model.js';
import { matches } from './history.js';
import { ago, clock, count, duration, plural, shorten } from './text.js';
import { $, attr, field, fill, icon, keyed, phone, put, putId, show } from './dom.js';
import { choices } from './choices.js';

const FAILURES_SHOWN = 3;
const FIRST_SHOWN = 8;
const MORE_SHOWN = 25;
const RECENT_MS = 24 * 3600e3;

let shown = FIRST_SHOWN;

const places = document.body.dataset;

/** As the admin quotes a primary key in an address. */
const quoted = id => encodeURIComponent(id.replace(/[:/_#?;@&=+$,"[\]<>%\n\\]/g, c =>
  `_${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`));

const pageOf = id => places.jobPage.replace('JOB', quoted(id));
const proofOf = id => places.proof.replace('JOB', encodeURIComponent(id));

function putTime(node, ended, now) {
  const text = ended == null ? '' : ago(now - ended);
  if (node.textContent !== text) node.textContent = text;
  if (ended == null) return;
  attr(node, 'datetime', new Date(ended).toISOString());
  attr(node, 'title', `${new Date(ended).toLocaleDateString()} ${clock(ended)}`);
}

const OUTCOMES = { lost: 'was lost', failed: 'failed' };

function drawFailures(history, now) {
  const recent = history.failures.filter(f => now - f.ended < RECENT_MS);
  show($('#failures-box'), recent.length > 0);
  const rest = recent.length > FAILURES_SHOWN ? `${FAILURES_SHOWN} of ${count(recent.length)} in the last day` : 'last day';
  put($('#failures-box'), 'n', rest);
  keyed($('#failures'), recent.slice(0, FAILURES_SHOWN), f => f.key, '#t-failure', (li, f) => {
    icon(li, f.outcome === 'lost' ? 'retry' : 'failed', f.outcome === 'lost' ? 'warn' : 'failed');
    const id = field(li, 'id');
    putId(id, f.id, phone() ? 30 : 44);
    attr(id, 'href', pageOf(f.id));
    const where = f.worker ? ` on ${f.worker}` : '';
    fill(li, { what: `P${f.index}, attempt ${f.attempt} ${OUTCOMES[f.outcome] ?? f.outcome}${where}`, text: f.text });
    putTime(field(li, 'when'), f.ended, now);
  });
}

function reason({ state, error }) {
  if (!error) return '';
  const where = error.partition == null ? '' : `P${error.partition}: `;
  return state === 'failed' ? where + (error.text || error.code) : error.text || '';
}

function drawJob(li, job, now) {
  icon(li, job.state);
  putId(field(li, 'id'), job.id, phone() ? 34 : 30);
  const facts = label => [label, job.circuit, job.kind].filter(Boolean).join(' · ');
  fill(li, {
    state: `, ${NAMES[job.state] ?? job.state}`,
    what: facts(shorten(job.label, phone() ? 32 : 44)),
    made: job.done === job.size ? plural(job.size, 'proof') : `${job.done} of ${plural(job.size, 'proof')}`,
    took: job.tookMs == null ? '' : duration(job.tookMs),
    text: reason(job),
  });
  attr(field(li, 'what'), 'title', facts(job.label));
  attr(field(li, 'took'), 'title', 'from its submission to its end');
  putTime(field(li, 'when'), job.ended, now);
  const [details, proof] = [field(li, 'details'), field(li, 'proof')];
  attr(details, 'href', pageOf(job.id));
  attr(details, 'aria-label', `Details of ${job.id}`);
  show(proof, job.done > 0);
  attr(proof, 'href', proofOf(job.id));
  attr(proof, 'aria-label', `Proof of ${job.id}`);
}

function emptyWords(history) {
  if (history.finished == null) return history.fault ? '' : 'Reading …';
  const sought = choices.sought.trim();
  if (!sought && choices.ended === 'all') return 'No job has ended yet.';
  const which = choices.ended === 'all' ? '' : `${choices.ended} `;
  return `Among the latest, no ${which}job${sought ? ' of that name' : ''}.`;
}

export function drawPast(history, { now }) {
  drawFailures(history, now);
  const found = (history.finished ?? []).filter(job => matches(job, choices));
  const box = $('#past');
  const fault = history.fault ? `The history cannot be read: ${history.fault}. Trying again.` : '';
  const empty = found.length ? '' : emptyWords(history);
  const words = [fault, empty].filter(Boolean).join(' ');
  put(box, 'none', words);
  show(field(box, 'none'), words !== '');
  put(box, 'n', found.length ? `${count(Math.min(shown, found.length))} of the last ${count(found.length)}` : '');
  keyed($('#past-jobs'), found.slice(0, shown), job => job.id, '#t-past', (li, job) => drawJob(li, job, now));
  show($('#past-more'), found.length > shown);
}

export function listenPast(redraw) {
  $('#past-more').addEventListener('click', () => {
    shown += MORE_SHOWN;
    redraw();
  });
  $('#sought').addEventListener('input', event => {
    choices.sought = event.target.value;
    shown = FIRST_SHOWN;
    redraw();
  });
}

// What is read first: the connection, the verdict, the phases, what needs attention.

import { NAMES, PHASES } from './model.js';
import { attention, bottleneck, busyWorkers, heldJobs, oldestAge, verdict } from './insight.js';
import { clock, count, duration, plural } from './text.js';
import { $, attr, field, fill, goTo, icon, keyed, put, putId, show } from './dom.js';
import { choices } from './choices.js';

const ATTENTION_SHOWN = 4;

function banner(feed, moment) {
  const seen = clock(moment.at);
  const kept = `You see the state at ${seen}; nothing after it is guessed. Trying again.`;
  if (moment.state !== 'live') {
    const title = feed.fault?.text ?? `No new snapshot since ${seen}.`;
    return { tone: moment.state, title, text: kept, signIn: feed.fault?.signedOut };
  }
  if (!feed.doc.consistent) {
    const text = 'Workers, partitions and tallies in it do not tell the same story.';
    return { tone: 'lost', title: 'The service calls this snapshot inconsistent.', text };
  }
  if (feed.contradictions.length) {
    const [first, ...others] = feed.contradictions;
    const more = others.length ? ` And ${plural(others.length, 'more')}.` : '';
    return { tone: 'lost', title: 'The snapshot contradicts itself.', text: `${first}.${more}` };
  }
  return null;
}

function connectionWords({ state, silence }) {
  if (state === 'live') return 'Live';
  return state === 'stale' ? `Stale since ${duration(silence)}` : `Disconnected for ${duration(silence)}`;
}

export function drawConnection(feed, moment) {
  const { doc } = feed;
  const connection = $('#conn');
  attr(connection, 'data-state', moment.state);
  put(connection, 'text', connectionWords(moment));
  put($('.top'), 'uptime', doc.uptimeMs == null ? '–' : duration(doc.uptimeMs + (moment.at - doc.at)));
  const notice = banner(feed, moment);
  const box = $('#banner');
  if (notice) {
    attr(box, 'data-state', notice.tone);
    fill(box, { title: notice.title, text: notice.text });
    show(field(box, 'sign-in'), notice.signIn === true);
  }
  show(box, notice !== null);
}

/** The banner alone, while there has never been a document. */
export function drawUnread(fault) {
  const box = $('#banner');
  attr(box, 'data-state', 'lost');
  fill(box, { title: fault.text, text: fault.signedOut ? '' : 'Trying again.' });
  show(field(box, 'sign-in'), fault.signedOut);
  show(box, true);
  attr($('#conn'), 'data-state', 'lost');
  put($('#conn'), 'text', 'Disconnected');
  fill($('.verdict'), { lead: 'Status unknown.', rest: '' });
}

export function drawVerdict(doc, { at, state }) {
  const { lead, rest } = verdict(doc, at);
  const dated = state === 'live' ? lead : `At ${clock(at)}: ${lead.charAt(0).toLowerCase()}${lead.slice(1)}`;
  fill($('.verdict'), { lead: dated, rest });
}

const oldest = (doc, phase, at) => {
  const ms = oldestAge(doc, phase, at);
  return ms == null ? '' : `oldest ${duration(ms)}`;
};

function tileNote(doc, phase, at) {
  const { active, slots } = doc.synthesis;
  const held = heldJobs(doc).reduce((sum, job) => sum + (job.counts.pending ?? 0), 0);
  switch (phase) {
    case 'pending':
      return held ? `${count(held)} held back` : oldest(doc, phase, at);
    case 'synthesizing':
      return slots == null ? oldest(doc, phase, at) : `${active ?? '–'} of ${plural(slots, 'slot')}`;
    case 'gpu':
      return `${busyWorkers(doc)} of ${doc.workers.length} busy`;
    case 'done': {
      const { failed, cancelled } = doc.phases;
      const notes = [`of ${count(doc.partitionCount)}`];
      if (failed.count) notes.push(`${count(failed.count)} failed`);
      if (cancelled.count) notes.push(`${count(cancelled.count)} cancelled`);
      return notes.join(', ');
    }
    default:
      return oldest(doc, phase, at);
  }
}

export function drawPhases(doc, { at }) {
  const limit = bottleneck(doc, at);
  keyed($('#flow'), PHASES, phase => phase, '#t-flow', (li, phase) => {
    const n = doc.phases[phase].count;
    const button = li.firstElementChild;
    icon(li, phase);
    const tag = limit === phase ? 'bottleneck' : '';
    fill(li, { name: NAMES[phase], tag, count: count(n), sub: tileNote(doc, phase, at) || 'none' });
    attr(button, 'aria-pressed', String(choices.phase === phase));
    attr(button, 'data-zero', n ? null : '');
  });
}

export function drawAttention(doc) {
  const items = attention(doc);
  const box = $('#attention-box');
  show(box, items.length > 0);
  put(box, 'n', items.length > ATTENTION_SHOWN ? `${ATTENTION_SHOWN} of ${count(items.length)}` : '');
  keyed($('#attention'), items.slice(0, ATTENTION_SHOWN), item => item.key, '#t-attention', (li, item) => {
    icon(li, item.icon, item.tone);
    fill(li, { title: item.title, text: item.text });
    const id = field(li, 'id');
    goTo(id, item.id, doc);
    putId(id, item.id, 25);
  });
}

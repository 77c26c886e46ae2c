// The same-origin status document, polled. Says what it last heard and when, never what it supposes.

import { readDocument } from './model.js';
import { contradictions } from './insight.js';

const POLL_MS = 1000;
const ANSWER_WITHIN_MS = 10000;
const BACKOFF_MS = [1000, 2000, 4000, 8000];
/** `rev` does not move with ages such as "last seen": ask for the whole document now and then. */
const UNCONDITIONAL_EVERY = 5;

export const STALE_MS = 5000;
export const LOST_MS = 15000;
/** Between two polls an open phase may grow this far past the last answer. */
const GRACE_MS = 2000;

const SILENT = { TimeoutError: 'does not answer' };

async function refusal(response) {
  if (response.status === 401 || response.status === 403) return { signedOut: true, text: 'You are signed out.' };
  const problem = await response.json().catch(() => null);
  const reason = problem?.detail ?? problem?.title;
  return { signedOut: false, text: `The status endpoint answers ${response.status}${reason ? `: ${reason}` : ''}.` };
}

export class Feed {
  doc = null;
  fault = null;
  contradictions = [];
  #etag = null;
  #polls = 0;
  #failures = 0;
  #heardAt = null;
  #clock = null; // server time and local monotonic time of the same instant

  constructor(url, { fetch = (...request) => globalThis.fetch(...request), now = () => performance.now() } = {}) {
    this.url = url;
    this.fetch = fetch;
    this.now = now;
  }

  /** Server time carried forward by a monotonic clock: a wrong clock on the reader's machine moves nothing. */
  #serverTime(local) {
    return this.#clock.server + (local - this.#clock.local);
  }

  /**
   * `now` is server time, `at` the moment up to which the state is known, `state` live, stale or lost.
   * Null before the first document.
   */
  moment() {
    if (!this.doc) return null;
    const local = this.now();
    const silence = local - this.#heardAt;
    const state = silence > LOST_MS || this.fault?.signedOut ? 'lost' : silence > STALE_MS ? 'stale' : 'live';
    const reach = state === 'live' ? Math.min(silence, GRACE_MS) : 0;
    return { now: this.#serverTime(local), at: this.#serverTime(this.#heardAt + reach), state, silence };
  }

  async poll() {
    let response;
    try {
      response = await this.#ask();
      if (response.status === 304) return this.#confirm();
      if (!response.ok) return this.#fail(await refusal(response));
    } catch (error) {
      const what = SILENT[error.name] ?? 'cannot be reached';
      return this.#fail({ signedOut: false, text: `The status endpoint ${what}.` });
    }
    try {
      this.#take(await response.json(), response.headers.get('ETag'));
    } catch {
      this.#fail({ signedOut: false, text: 'The status endpoint sent no status document.' });
    }
  }

  /** An event of the stream: a document, a sign that nothing has changed, or a fault that may pass. */
  hear(name, data, id) {
    try {
      if (name === 'status') this.#take(JSON.parse(data), `"${id}"`);
      else if (name === 'beat' && this.doc) this.#confirm();
      else if (name === 'fault') {
        const { status, detail } = JSON.parse(data);
        this.#fail({ signedOut: false, text: `The status endpoint answers ${status}: ${detail}.` });
      }
    } catch {
      this.#fail({ signedOut: false, text: 'The status stream sent no status document.' });
    }
  }

  #ask() {
    const conditional = this.#etag && this.#polls++ % UNCONDITIONAL_EVERY !== 0;
    return this.fetch(this.url, {
      headers: { Accept: 'application/json', ...(conditional ? { 'If-None-Match': this.#etag } : {}) },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  }

  /** Milliseconds until the next poll is due. */
  get pause() {
    return this.#failures ? BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length) - 1] : POLL_MS;
  }

  #confirm() {
    this.#heardAt = this.now();
    this.#settle();
  }

  #take(raw, etag) {
    const doc = readDocument(raw);
    if (doc.at == null) throw new TypeError('the status document has no generated_at');
    const local = this.now();
    // the same document again without a 304 comes from something that repeats itself: no news
    const news = this.doc?.at !== doc.at;
    if (news) {
      this.#clock = { server: doc.at, local };
      this.#heardAt = local;
      this.contradictions = contradictions(doc);
    }
    this.doc = doc;
    this.#etag = etag;
    this.#settle();
  }

  #settle() {
    this.#failures = 0;
    this.fault = null;
  }

  #fail(fault) {
    this.#failures += 1;
    this.fault = fault;
  }
}

// The status as server-sent events, where the server offers them. While it speaks, nobody needs to poll.

/** Silence after which the reader polls again: the server beats every two seconds. */
const QUIET_MS = 4500;
const BEAT_SECONDS = 2;
const NAMES = ['status', 'beat', 'fault', 'end'];

export class Stream {
  #source = null;
  #heardAt = -Infinity;

  constructor(url, heard, { Source = globalThis.EventSource, now = () => performance.now() } = {}) {
    this.url = url;
    this.heard = heard;
    this.Source = Source;
    this.now = now;
  }

  get alive() {
    return this.#source !== null && this.now() - this.#heardAt < QUIET_MS;
  }

  /** Opening twice is opening once. A browser reconnects by itself and says what it heard last. */
  open() {
    if (this.#source || !this.url || !this.Source) return;
    const source = new this.Source(`${this.url}?beat=${BEAT_SECONDS}`);
    for (const name of NAMES) source.addEventListener(name, event => this.#hear(name, event));
    source.addEventListener('error', () => {
      if (source.readyState === 2) this.close();
    });
    this.#source = source;
  }

  close() {
    this.#source?.close();
    this.#source = null;
    this.#heardAt = -Infinity;
  }

  #hear(name, event) {
    if (name === 'end') this.close();
    else if (name !== 'fault') this.#heardAt = this.now();
    if (name !== 'end') this.heard(name, event.data, event.lastEventId);
  }
}

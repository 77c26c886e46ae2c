// Keyed DOM: nodes stay, only what changed is written. Hover, focus, selection and scroll survive a redraw.

import { shorten } from './text.js';

export const $ = selector => document.querySelector(selector);
export const field = (root, name) => root.querySelector(`[data-f="${name}"]`);

/** As the style sheets have it. */
export const phone = () => matchMedia('(max-width: 720px)').matches;

const clone = selector => $(selector).content.firstElementChild.cloneNode(true);

export function put(root, name, text) {
  const node = field(root, name);
  if (node.textContent !== text) node.textContent = text;
  return node;
}

export function fill(root, texts) {
  for (const name in texts) put(root, name, texts[name]);
}

export function attr(node, name, value) {
  if (value == null || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

export function icon(root, name, tone = name) {
  attr(root.querySelector('use'), 'href', `#i-${name}`);
  attr(root, 'data-phase', tone);
}

/** An id cut to `room` characters; the whole of it on hover and on copy. */
export function putId(node, id, room) {
  const text = shorten(id, room);
  if (node.textContent !== text) node.textContent = text;
  attr(node, 'title', id);
}

/** A button that leads to a live job in the timeline; dead where the job is not there. */
export function goTo(button, job, doc) {
  const there = doc.jobs.some(live => live.id === job);
  attr(button, 'data-job', there ? job : null);
  attr(button, 'title', job);
  if (button.disabled === there) button.disabled = !there;
}

/** Make the children of `parent` those of `items`, in order, reusing the node of each key. */
export function keyed(parent, items, keyOf, template, patch) {
  const old = new Map([...parent.children].map(node => [node.dataset.key, node]));
  items.forEach((item, i) => {
    const key = String(keyOf(item));
    const node = old.get(key) ?? (typeof template === 'string' ? clone(template) : template());
    node.dataset.key = key;
    old.delete(key);
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null);
    patch(node, item);
  });
  old.forEach(node => node.remove());
}

export const tick = () => document.createElement('i');

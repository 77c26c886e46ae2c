// The drawing surface: colours from the page's tokens, crisp pixels, and the few shapes that bars are made of.

import { PHASES } from './model.js';

export const palette = {};
export const hatches = {};

/** Bar height as a share of its lane. Only the device fills it: the shape carries the phase, colour repeats it. */
export const SHARE = { pending: 0, synthesizing: 0.55, synth_done: 0.34, gpu: 1, finalizing: 0.55 };

function hatch(color, pitch, width, diagonal) {
  const tile = new OffscreenCanvas(pitch * 2, pitch * 2);
  const g = tile.getContext('2d');
  g.scale(2, 2);
  g.strokeStyle = color;
  g.lineWidth = width;
  for (const k of [-pitch, 0, pitch]) {
    g.beginPath();
    g.moveTo(diagonal ? k : k + pitch / 2, diagonal ? pitch : 0);
    g.lineTo(diagonal ? k + pitch : k + pitch / 2, diagonal ? 0 : pitch);
    g.stroke();
  }
  const pattern = g.createPattern(tile, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(0.5));
  return pattern;
}

/** Resolve the tokens of the style sheet, once for each theme. */
export function readPalette() {
  const probe = document.body.appendChild(document.createElement('i'));
  for (const name of ['surface', 'line', 'line-soft', 'track', 'text', 'muted', 'failed', 'cancelled', ...PHASES]) {
    probe.style.color = `var(--${name})`;
    palette[name] = getComputedStyle(probe).color;
  }
  palette.font = getComputedStyle(probe).fontFamily;
  probe.className = 'id';
  probe.textContent = '0'.repeat(10);
  palette.character = probe.getBoundingClientRect().width / 10;
  probe.remove();
  hatches.synth_done = hatch(palette.synth_done, 4, 1.6, true);
  hatches.finalizing = hatch(palette.finalizing, 3, 1.8, false);
  hatches.unknown = hatch(palette.line, 6, 1.2, true);
}

/** A cleared context over the whole width of the canvas at the screen's resolution. */
export function surface(canvas, height) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
    [canvas.width, canvas.height] = pixels;
    canvas.style.height = `${height}px`;
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.globalAlpha = 1;
  g.font = `11px ${palette.font}`;
  g.textBaseline = 'middle';
  return { g, width, height };
}

export function block(g, color, x, y, width, height, alpha = 1) {
  g.fillStyle = color;
  g.globalAlpha = alpha;
  g.fillRect(x, y, width, height);
  g.globalAlpha = 1;
}

export function text(g, words, x, y, color = palette.text, align = 'left') {
  g.fillStyle = color;
  g.textAlign = align;
  g.fillText(words, x, y);
}

/** One phase of one partition: `height` is the lane's. */
export function bar(g, phase, x0, x1, y, height) {
  const width = Math.max(1, x1 - x0);
  if (x1 < 0) return;
  if (phase === 'pending') {
    g.globalAlpha *= 0.25;
    g.fillStyle = palette.pending;
    g.fillRect(x0, Math.round(y + (height - 1) / 2), width, 1);
    return;
  }
  const tall = Math.max(1, Math.round(height * SHARE[phase]));
  const top = y + (height - tall) / 2;
  const striped = hatches[phase] && tall >= 4;
  g.fillStyle = striped ? hatches[phase] : palette[phase];
  g.fillRect(x0, top, width, tall);
  if (striped && width > 2) {
    g.strokeStyle = palette[phase];
    g.lineWidth = 1;
    g.strokeRect(x0 + 0.5, top + 0.5, width - 1, tall - 1);
  }
}

export function cross(g, x, y, reach = 3) {
  const side = 2 * reach;
  const path = new Path2D(`M${x - reach} ${y - reach}l${side} ${side}m0 ${-side}l${-side} ${side}`);
  g.lineCap = 'round';
  for (const [style, width] of [[palette.surface, 4.5], [palette.failed, 2]]) {
    g.strokeStyle = style;
    g.lineWidth = width;
    g.stroke(path);
  }
}

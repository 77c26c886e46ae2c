"""Time against size as an SVG picture, both axes logarithmic."""

import math

WIDTH, HEIGHT, MARGIN = 640, 400, 60
COLOURS = ("#1b6ca8", "#c8553d", "#4f772d", "#7b2d8b", "#8a6d00")

Lines = dict[str, list[tuple[int, float]]]


def draw(lines: Lines) -> str:
    """One line a prover: (log2 of the size, seconds)."""
    sizes = [log_size for line in lines.values() for log_size, _ in line] or [0]
    times = [math.log10(seconds) for line in lines.values() for _, seconds in line] or [0.0]
    left, right = min(sizes), max(*sizes, min(sizes) + 1)
    low, high = math.floor(min(times)), max(math.ceil(max(times)), math.floor(min(times)) + 1)

    def place(log_size: float, log_seconds: float) -> tuple[float, float]:
        x = MARGIN + (WIDTH - 2 * MARGIN) * (log_size - left) / (right - left)
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (log_seconds - low) / (high - low)
        return round(x, 1), round(y, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    ]
    for log_size in range(left, right + 1):
        x, y = place(log_size, low)
        parts.append(f'<text x="{x}" y="{y + 20}" font-size="12" text-anchor="middle">2^{log_size}</text>')
    for power in range(low, high + 1):
        x, y = place(left, power)
        parts.append(f'<line x1="{x}" y1="{y}" x2="{WIDTH - MARGIN}" y2="{y}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{x - 8}" y="{y + 4}" font-size="12" text-anchor="end">{10.0**power:g} s</text>'
        )
    for index, (name, line) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        spots = [place(log_size, math.log10(seconds)) for log_size, seconds in sorted(line)]
        path = " ".join(f"{x},{y}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in spots]
        parts.append(
            f'<text x="{MARGIN + 10}" y="{20 + 16 * index}" font-size="13" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])

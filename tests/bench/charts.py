"""The pictures of scripts/bench: SVG, by hand."""

import math

WIDTH = 860
COLOURS = {"stint": "#0b5cad", "nginx": "#7fa980", "haproxy": "#d8a15d", "text": "#222222", "grid": "#e4e4e4",
           "edge": "#8a8a8a"}
NAMES = {"stint": "Stint", "nginx": "nginx", "haproxy": "HAProxy"}


def text(x, y, words, size=12, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{COLOURS["text"]}">{words}</text>')


def line(x1, y1, x2, y2, colour="grid", width=1.0, more=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{COLOURS[colour]}" '
            f'stroke-width="{width}"{more}/>')


def box(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{COLOURS[colour]}"/>'


def picture(height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


BAR, GAP, TOP, LEFT, RIGHT = 13, 12, 74, 290, 90


def bars(shown, caption):
    """What a request costs; each group of bars in shares of the better peer's."""
    groups = [one for one in shown if len(one.values) > 1 and "latency" not in one.what]
    longest = max((value / best_peer(one) for one in groups for value in one.values.values()), default=1)

    def x_of(share):
        return LEFT + share / longest * (WIDTH - LEFT - RIGHT)

    parts = [text(20, 26, "What a request costs: CPU time and instructions, the better peer = 1 (shorter is better)", 16, weight="bold"),
             text(20, 44, caption, 11)]
    for i, (program, name) in enumerate(NAMES.items()):
        parts += [box(20 + 90 * i, 53, 10, 10, program), text(34 + 90 * i, 62, name, 11)]
    y = TOP
    bottom = TOP + sum(BAR * len(one.values) + GAP for one in groups)
    parts.append(line(x_of(1), TOP - 6, x_of(1), bottom - GAP + 4, "edge", 1, ' stroke-dasharray="3 3"'))
    for one in groups:
        parts.append(text(LEFT - 10, y + BAR * len(one.values) / 2 + 4,
                          one.what.partition(": µs")[0], 11.5, "end"))
        for program, value in one.values.items():
            share = value / best_peer(one)
            parts += [box(LEFT, y, x_of(share) - LEFT, BAR - 2, program),
                      text(x_of(share) + 5, y + BAR - 4, f"{value:,.1f} µs" if one.unit else f"{value:,.0f}", 10)]
            y += BAR
        y += GAP
    parts.append(text(20, y + 10, "Drawn by scripts/bench from one run.", 11))
    return picture(y + 24, parts)


def best_peer(one):
    return min(value for program, value in one.values.items() if program != "stint")


PANEL_WIDTH, PANEL_HEIGHT = 340, 150


def growth(series, caption):
    """series: {title: [(x, [values])]}; four panels, x on a logarithmic scale, y from 0."""
    parts = [text(20, 26, "CPU time a request as things grow (Stint)", 16, weight="bold"), text(20, 44, caption, 11)]
    for number, (title, points) in enumerate(series.items()):
        parts += panel(70 + 420 * (number % 2), 90 + 220 * (number // 2), title, points)
    height = 90 + 220 * math.ceil(len(series) / 2)
    parts.append(text(20, height - 12, "Points: medians; strokes: least to most. Drawn by scripts/bench --growth.", 11))
    return picture(height, parts)


def panel(left, top, title, points):
    base = top + PANEL_HEIGHT
    most = 10 * math.ceil(max(max(values) for _, values in points) / 10 + 0.1)
    first, last = math.log(points[0][0]), math.log(points[-1][0])

    def x_of(x):
        return left + 15 + (math.log(x) - first) / (last - first) * (PANEL_WIDTH - 30)

    def y_of(value):
        return base - value / most * PANEL_HEIGHT

    parts = [text(left, top - 12, title, 12.5, weight="bold")]
    for i in range(6):
        parts += [line(left, y_of(most * i / 5), left + PANEL_WIDTH, y_of(most * i / 5)),
                  text(left - 6, y_of(most * i / 5) + 4, f"{most * i / 5:g}", 10, "end")]
    parts.append(text(left - 34, top + PANEL_HEIGHT / 2, "µs", 10))
    path = "M"
    for x, values in points:
        middle = sorted(values)[len(values) // 2]
        parts += [line(x_of(x), y_of(min(values)), x_of(x), y_of(max(values)), "stint", 4, ' stroke-opacity="0.4"'),
                  f'<circle cx="{x_of(x):.1f}" cy="{y_of(middle):.1f}" r="3" fill="{COLOURS["stint"]}"/>',
                  text(x_of(x), base + 16, f"{x:,}", 10, "middle")]
        path += f"{x_of(x):.1f} {y_of(middle):.1f} "
    parts.append(f'<path d="{path}" fill="none" stroke="{COLOURS["stint"]}" stroke-width="1.5"/>')
    return parts

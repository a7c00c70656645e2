"""A picture of containers over time: a lane for each place on a node, a bar for each container, pale while it is suspended."""

from xml.sax.saxutils import escape

_WIDTH, _LEFT, _LANE, _GAP = 1200, 120, 12, 3
#: The first job and the others: told apart by colour-blind readers too.
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#994400", "#777777")


class Panel:
    """One run: its title, its containers' lives and its jobs' results."""

    def __init__(self, title, lives, results):
        self.title = title
        self.lives = lives
        self.results = results
        self.job_of = {result.app_id: result.name for result in results}
        self.begin = min(result.submitted_ms for result in results) / 1000
        self.seconds = max(result.finished_ms for result in results) / 1000 - self.begin


def svg(panels, jobs):
    """The picture as SVG text: panels below each other on one time scale; ``jobs`` are the names for the legend, in order."""
    scale = (_WIDTH - _LEFT - 20) / max(panel.seconds for panel in panels)
    colours = {job: _COLOURS[min(index, len(_COLOURS) - 1)] for index, job in enumerate(jobs)}
    parts, y = [], 20
    for x, job in zip(range(_LEFT, _WIDTH, 140), jobs):
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colours[job]}"/>'
                     f'<text x="{x + 17}" y="{y}">{escape(job)}</text>')
    y += 22
    parts.append(f'<text x="{_LEFT}" y="{y}">jobs: from submission to end · containers: full while running, pale while suspended, dark edge: ApplicationMaster</text>')
    y += 30
    for panel in panels:
        parts.append(f'<text x="10" y="{y}" font-size="15" font-weight="bold">{escape(panel.title)}</text>')
        y += 8
        body, y = _panel(panel, y, scale, colours)
        parts += body
        y += 34
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")


def _panel(panel, y, scale, colours):
    parts, top = [], y
    parts.append(f'<text x="10" y="{y + len(panel.results) * 3.5 + 4}">jobs</text>')
    for result in panel.results:
        x, width = _LEFT + (result.submitted_ms / 1000 - panel.begin) * scale, result.sojourn_s * scale
        title = f"{result.name}: {result.sojourn_s:.1f} s from submission to end"
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="4" fill="{colours[result.name]}"><title>{escape(title)}</title></rect>')
        y += 7
    y += 8
    for node in sorted({life.node for life in panel.lives}):
        lanes = _lanes([life for life in panel.lives if life.node == node], panel.begin + panel.seconds)
        parts.append(f'<text x="10" y="{y + len(lanes) * (_LANE + _GAP) / 2 + 4}">node {node}</text>')
        for lane in lanes:
            for life in lane:
                parts += _bars(life, panel, y, scale, colours[panel.job_of[life.application]])
            y += _LANE + _GAP
        y += 6
    ticks = [f'<line x1="{_LEFT + second * scale:.1f}" x2="{_LEFT + second * scale:.1f}" y1="{top}" y2="{y}" stroke="#dddddd"/>'
             f'<text x="{_LEFT + second * scale:.1f}" y="{y + 12}" text-anchor="middle">{second} s</text>'
             for second in range(0, int(panel.seconds) + 1, 10)]
    return ticks + parts, y + 12


def _bars(life, panel, y, scale, colour):
    job = panel.job_of[life.application]
    for begin, end, kind in life.spans:
        end = panel.begin + panel.seconds if end is None else end
        x, width = _LEFT + (begin - panel.begin) * scale, max(1.0, (end - begin) * scale)
        look = f'fill="{colour}"' if kind == "running" else f'fill="{colour}" fill-opacity="0.2" stroke="{colour}" stroke-dasharray="2 2"'
        if life.is_master:
            look += ' stroke="#222222"'
        title = f"{job}: {life.container}, {kind} {begin - panel.begin:.1f} to {end - panel.begin:.1f} s"
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_LANE}" {look}><title>{escape(title)}</title></rect>'


def _lanes(lives, end):
    """Containers of a node in as few lanes as do not overlap, each in the first that is free."""
    lanes = []
    for life in lives:
        free = next((lane for lane in lanes if (lane[-1].spans[-1][1] or end) <= life.begin), None)
        if free is None:
            lanes.append([life])
        else:
            free.append(life)
    return lanes

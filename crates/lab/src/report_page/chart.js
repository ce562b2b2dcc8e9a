// Charts on two logarithmic axes, as SVG with a table of the same figures below.

const COLOURS = 12;
const SHAPES = 4;
/** Dashes of the lines, with which colours come again. */
const DASHES = ['none', '7 4', '2 3', '10 3 2 3'];

/** Colour, shape and dashes of each protocol: the same in all charts and in the ranking. */
const LOOKS = new Map(
  distinct(DATA.series.map(series => series.protocol))
    .sort()
    .map((name, place) => [name, place]),
);

function colour(protocol) {
  return `var(--c${LOOKS.get(protocol) % COLOURS})`;
}

/** How often the protocol's colour has come before. */
function round(protocol) {
  return Math.floor(LOOKS.get(protocol) / COLOURS) % SHAPES;
}

/** The mark of a protocol at a place. */
function mark(protocol, x, y, attributes = {}, ...children) {
  const shape = round(protocol);
  const at = (...corners) => corners.map(([dx, dy]) => `${x + dx},${y + dy}`).join(' ');
  const look = { class: 'point', fill: colour(protocol), ...attributes };
  if (shape === 0) return svg('circle', { cx: x, cy: y, r: 5.5, ...look }, ...children);
  const corners = [
    [
      [-5, -5],
      [5, -5],
      [5, 5],
      [-5, 5],
    ],
    [
      [0, -6.5],
      [6, 5],
      [-6, 5],
    ],
    [
      [0, -7],
      [6.5, 0],
      [0, 7],
      [-6.5, 0],
    ],
  ][shape - 1];
  return svg('polygon', { points: at(...corners), ...look }, ...children);
}

function swatch(protocol) {
  return svg('svg', { class: 'swatch', viewBox: '-8 -8 16 16', 'aria-hidden': 'true' }, mark(protocol, 0, 0));
}

/** Ticks at one, two and five times powers of ten, or at the powers alone where these are many. */
function ticksOf(low, high, base) {
  const ticks = [];
  const steps = base === 2 ? [1] : high / low < 50 ? [1, 2, 5] : [1];
  const from = Math.floor(Math.log(low) / Math.log(base));
  const to = Math.ceil(Math.log(high) / Math.log(base));
  const stride = Math.max(1, Math.ceil((to - from) / 10));
  for (let power = from; power <= to; power += stride) {
    for (const step of steps) {
      const tick = step * base ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** A logarithmic axis over all values, with some room on both sides. */
function axis(values, from, to, base) {
  const room = base === 2 ? 1.15 : 1.3;
  const [low, high] = [Math.min(...values) / room, Math.max(...values) * room];
  const place = value => from + ((to - from) * Math.log(value / low)) / Math.log(high / low);
  return { place, ticks: ticksOf(low, high, base) };
}

/** Moves labels apart that would cover each other in a column; top to bottom. */
function spread(labels, top, bottom, gap) {
  labels.sort((one, other) => one.y - other.y);
  let free = top;
  for (const label of labels) {
    label.at = Math.max(label.y, free);
    free = label.at + gap;
  }
  free = bottom;
  for (const label of [...labels].reverse()) {
    label.at = Math.min(label.at, free);
    free = label.at - gap;
  }
}

/**
 * Draws a chart into a figure. `sets` have a protocol, points ({x, y, text}) and whether a line joins them (or `line`,
 * its own points). `labels` says where names stand: at the 'end' of lines or at each 'point'. `front` is a line of
 * places, `here` an x to mark, `rows` the table of the same figures.
 */
function draw(figure, { title, about, x, y, sets, labels, front = [], here, rows }) {
  const caption = html('figcaption', {}, title, html('span', { class: 'hint' }, about));
  const all = sets.flatMap(set => [...set.points, ...(set.line ?? [])]).filter(point => point.x > 0 && point.y > 0);
  if (all.length === 0) {
    figure.replaceChildren(caption, html('p', { class: 'none' }, 'No run of this kind was recorded.'));
    return;
  }
  const width = Math.max(300, Math.min(figure.clientWidth || 640, 900));
  const isNarrow = width < 520;
  const height = isNarrow ? 300 : 400;
  const [left, right, top, bottom] = [58, isNarrow ? 12 : labels === 'end' ? 170 : 24, 12, height - 46];
  const across = axis([...all.map(point => point.x), ...(here ? [here] : [])], left, width - right, x.base ?? 10);
  const up = axis(
    all.map(point => point.y),
    bottom,
    top,
    10,
  );
  const name = figure.id;
  const picture = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': `${name}-title ${name}-desc` },
    svg('title', { id: `${name}-title` }, title),
    svg('desc', { id: `${name}-desc` }, `${about} ${describe(sets, x, y)} The same figures are in the table below.`),
  );

  let before = -Infinity;
  for (const tick of across.ticks) {
    const place = across.place(tick);
    picture.append(svg('line', { class: 'grid', x1: place, x2: place, y1: top, y2: bottom }));
    if (place - before < 52) continue;
    before = place;
    const text = x.write(tick);
    const isCut = place + text.length * 3.5 > width;
    picture.append(
      svg('text', { x: isCut ? width - 2 : place, y: bottom + 16, 'text-anchor': isCut ? 'end' : 'middle' }, text),
    );
  }
  before = Infinity;
  for (const tick of up.ticks) {
    const place = up.place(tick);
    picture.append(svg('line', { class: 'grid', x1: left, x2: width - right, y1: place, y2: place }));
    if (before - place < 15) continue;
    before = place;
    picture.append(svg('text', { x: left - 6, y: place + 4, 'text-anchor': 'end' }, y.write(tick)));
  }
  picture.append(
    svg('polyline', {
      class: 'axis',
      fill: 'none',
      points: `${left},${top} ${left},${bottom} ${width - right},${bottom}`,
    }),
    svg('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle' }, x.title),
    svg('text', { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, y.title),
  );
  if (here) {
    const place = across.place(here);
    picture.append(
      svg('line', { class: 'here', x1: place, x2: place, y1: top, y2: bottom }),
      svg('text', { x: place + 4, y: top + 10 }, 'your link'),
    );
  }
  const path = points =>
    points.map(point => `${across.place(point.x).toFixed(1)},${up.place(point.y).toFixed(1)}`).join(' ');
  if (front.length > 1) picture.append(svg('polyline', { class: 'front', points: path(front) }));
  for (const set of sets) {
    const line = set.line ?? (set.joined ? set.points : []);
    if (line.length > 1)
      picture.append(
        svg('polyline', {
          class: 'series',
          stroke: colour(set.protocol),
          'stroke-dasharray': DASHES[round(set.protocol)],
          points: path(line),
        }),
      );
  }
  for (const set of sets) {
    for (const point of set.points) {
      picture.append(mark(set.protocol, across.place(point.x), up.place(point.y), {}, svg('title', {}, point.text)));
    }
  }
  if (!isNarrow) {
    if (labels === 'end') namesAtEnds(picture, sets, across, up, width - right, top, bottom);
    else namesAtPoints(picture, sets, across, up, { left, top, bottom, right: width - 4 });
  }
  const legend = html(
    'ul',
    { class: 'legend' },
    sets.map(set => html('li', {}, swatch(set.protocol), set.protocol)),
  );
  const table = html(
    'table',
    {},
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        rows.head.map(text => html('th', { scope: 'col' }, text)),
      ),
    ),
    html(
      'tbody',
      {},
      rows.body.map(([first, ...rest]) =>
        html(
          'tr',
          {},
          html('th', { scope: 'row' }, first),
          rest.map(text => html('td', {}, text)),
        ),
      ),
    ),
  );
  const wasOpen = figure.querySelector('details')?.open;
  figure.replaceChildren(
    caption,
    picture,
    isNarrow ? legend : '',
    html(
      'details',
      { open: wasOpen },
      html('summary', {}, 'These figures as a table'),
      html('div', { class: 'scroll tall', role: 'region', tabindex: '0', 'aria-label': title }, table),
    ),
  );
}

function describe(sets, x, y) {
  const span = (values, write) => `from ${write(Math.min(...values))} to ${write(Math.max(...values))}`;
  const points = sets.flatMap(set => (set.points.length > 0 ? set.points : (set.line ?? [])));
  return `${sets.length} protocols; ${x.title} ${span(
    points.map(point => point.x),
    x.write,
  )}, ${y.title} ${span(
    points.map(point => point.y),
    y.write,
  )}.`;
}

/** Names in a column behind the last points of lines. */
function namesAtEnds(picture, sets, across, up, edge, top, bottom) {
  const ends = sets.map(set => {
    const points = set.line ?? set.points;
    const last = points[points.length - 1];
    return { protocol: set.protocol, x: across.place(last.x), y: up.place(last.y) };
  });
  const gap = Math.min(14, (bottom - top) / Math.max(1, ends.length - 1));
  spread(ends, top + 4, bottom, gap);
  for (const end of ends) {
    picture.append(
      svg('polyline', {
        class: 'leader',
        points: `${end.x + 6},${end.y} ${edge + 4},${end.at} ${edge + 10},${end.at}`,
      }),
      svg('text', { class: 'name', x: edge + 13, y: end.at + 4 }, short(end.protocol)),
    );
  }
}

/** Names beside points, where there is room; whose protocol has none is told by its mark and by the table. */
function namesAtPoints(picture, sets, across, up, area) {
  const places = sets.flatMap(set =>
    set.points.map(point => ({
      protocol: set.protocol,
      x: across.place(point.x),
      y: up.place(point.y),
      first: set.first,
    })),
  );
  const taken = places.map(({ x, y }) => ({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }));
  const isFree = box =>
    box.left > area.left &&
    box.right < area.right &&
    box.top > area.top &&
    box.bottom < area.bottom &&
    taken.every(
      other => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom,
    );
  for (const place of places.sort((one, other) => Number(other.first) - Number(one.first))) {
    const text = short(place.protocol);
    const length = text.length * 6.6 + 2;
    const boxes = [
      [9, 4],
      [-9 - length, 4],
      [-length / 2, -11],
      [-length / 2, 19],
      [8, -8],
      [8, 16],
      [-8 - length, -8],
      [-8 - length, 16],
      [14, -22],
      [14, 30],
      [-14 - length, -22],
      [-14 - length, 30],
    ];
    for (const [dx, dy] of boxes) {
      const box = {
        left: place.x + dx,
        right: place.x + dx + length,
        top: place.y + dy - 10,
        bottom: place.y + dy + 3,
      };
      if (!isFree(box)) continue;
      taken.push(box);
      if (Math.abs(dy) > 19) {
        picture.append(
          svg('line', {
            class: 'leader',
            x1: place.x,
            y1: place.y,
            x2: dx > 0 ? box.left - 1 : box.right + 1,
            y2: place.y + dy - 4,
          }),
        );
      }
      picture.append(svg('text', { class: 'name', x: place.x + dx, y: place.y + dy }, text));
      break;
    }
  }
}

/** A name that fits beside a chart. */
function short(protocol) {
  return protocol.length > 24 ? `${protocol.slice(0, 23)}…` : protocol;
}

// What the reader has chosen: runs, sizes, link and prices.

const PRESETS = [
  ['loopback', 'one machine', Infinity, 0],
  ['lan', 'local network: 10 Gbit/s, 0.2 ms', 1e10, 0.2],
  ['site', 'two sites: 1 Gbit/s, 10 ms', 1e9, 10],
  ['wide', 'two countries: 100 Mbit/s, 40 ms', 1e8, 40],
  ['far', 'two continents: 100 Mbit/s, 150 ms', 1e8, 150],
  ['slow', 'a slow line: 10 Mbit/s, 80 ms', 1e7, 80],
];

/** Reads a field, and marks it where its text is no value. */
function readField(id, parse) {
  const value = parse(byId(id).value);
  byId(id).setAttribute('aria-invalid', String(Number.isNaN(value)));
  return value;
}

/** The reader's link and prices. */
function readLink() {
  const unlimited = byId('rate').value.trim().toLowerCase() === 'no limit';
  const speed = unlimited ? Infinity : readField('rate', parseAmount) * Number(byId('rate-unit').value);
  if (unlimited) byId('rate').setAttribute('aria-invalid', 'false');
  return {
    link: { rate: speed > 0 ? speed : NaN, roundTrip: readField('round-trip', parseAmount) / 1e3 },
    prices: {
      core: readField('core-price', parseAmount),
      sender: readField('sender-price', parseAmount),
      receiver: readField('receiver-price', parseAmount),
    },
  };
}

/** The series and runs that the reader has chosen, and the sizes. */
function readChoice() {
  const wanted = series =>
    String(series.recording) === byId('recording').value &&
    series.task === byId('task').value &&
    series.security === byId('security').value &&
    series.amounts === byId('amounts').value;
  const series = DATA.series.flatMap((one, place) => (wanted(one) ? [place] : []));
  return {
    series,
    // The time of a run with a wrong output means nothing.
    runs: DATA.runs.filter(run => run.correct && series.includes(run.series)),
    sender: readField('sender-items', parseItems),
    receiver: readField('receiver-items', parseItems),
  };
}

/** Pairs of sizes, those of most protocols first. */
function commonSizes(series) {
  const counts = new Map();
  for (const point of series.flatMap(one => POINTS[one])) {
    const key = `${point.sender_items} ${point.receiver_items}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .map(([key, count]) => [...key.split(' ').map(Number), count])
    .sort((one, other) => other[2] - one[2] || other[0] - one[0]);
}

/** The fields that depend on each other, from the recording down. */
function refillChoice() {
  const of = conditions =>
    DATA.series.filter(series => conditions.every(([id, value]) => byId(id).value === String(value(series))));
  const recording = ['recording', series => series.recording];
  const task = ['task', series => series.task];
  const security = ['security', series => series.security];
  const most = values =>
    distinct(values).sort(
      (one, other) => values.filter(value => value === other).length - values.filter(value => value === one).length,
    );
  fill(
    byId('task'),
    most(of([recording]).map(task[1])).map(value => [value, value]),
  );
  fill(
    byId('security'),
    most(of([recording, task]).map(security[1])).map(value => [value, value]),
  );
  fill(
    byId('amounts'),
    most(of([recording, task, security]).map(series => series.amounts)).map(value => [
      value,
      value || (DATA.runs.length ? 'none (half of the items in common)' : ''),
    ]),
  );
  const { series } = readChoice();
  const common = commonSizes(series);
  const isKnown = common.some(
    ([sender, receiver]) =>
      sender === parseItems(byId('sender-items').value) && receiver === parseItems(byId('receiver-items').value),
  );
  if (!isKnown && common.length > 0) setSizes(common[0][0], common[0][1]);
  byId('common-sizes').replaceChildren(
    ...common.slice(0, 8).flatMap(([sender, receiver, count]) => [
      html(
        'button',
        {
          type: 'button',
          class: 'as-link',
          onclick: () => {
            setSizes(sender, receiver);
            update();
          },
        },
        `${sizes(sender, receiver)}`,
      ),
      ` (${count}) `,
    ]),
  );
  const choices = place =>
    distinct(common.map(pair => pair[place]))
      .sort((one, other) => one - other)
      .map(value => html('option', { value: typed(value) }));
  byId('sender-sizes').replaceChildren(...choices(0));
  byId('receiver-sizes').replaceChildren(...choices(1));
}

/** A size as a reader types it. */
function typed(count) {
  const log = Math.log2(count);
  return log >= 6 && Number.isInteger(log) ? `2^${log}` : String(count);
}

function setSizes(sender, receiver) {
  byId('sender-items').value = typed(sender);
  byId('receiver-items').value = typed(receiver);
}

function setLink(speed, roundTripMs) {
  const unit = speed >= 1e9 ? 1e9 : speed >= 1e6 ? 1e6 : 1e3;
  byId('rate').value = speed === Infinity ? 'no limit' : String(speed / unit);
  byId('rate-unit').value = ['1e9', '1e6', '1e3'].find(value => Number(value) === unit);
  byId('round-trip').value = String(roundTripMs);
}

/** Links to choose from: those of the recording first. */
function refillPresets() {
  const links = readChoice()
    .runs.filter(run => run.link.bits_per_second)
    .map(run => run.link);
  const count = link => links.filter(other => other.label === link.label).length;
  const different = [...new Map(links.map(link => [link.label, link])).values()].sort(
    (one, other) => count(other) - count(one),
  );
  const measured = different.map(link => [
    link.label,
    `measured: ${link.label}`,
    link.bits_per_second,
    link.round_trip_ms,
  ]);
  const all = [...measured, ...PRESETS, ['own', 'as set here', NaN, NaN]];
  fill(byId('preset'), all, measured.length > 0 ? measured[0][0] : 'site');
  return all;
}

function refillPlots(chosen) {
  const counts = new Map();
  for (const run of chosen.runs) counts.set(run.link.label, (counts.get(run.link.label) ?? 0) + 1);
  fill(
    byId('measured-link'),
    [...counts].sort((one, other) => other[1] - one[1]).map(([label, count]) => [label, `${label} (${count} runs)`]),
  );
  const ways = waysThrough(chosen)
    .map(way => ({ ...way, count: chosen.runs.filter(way.isOnIt).length }))
    .filter(way => way.count > 0);
  ways.sort((one, other) => other.count - one.count);
  fill(
    byId('along'),
    ways.map(way => [way.name, way.title]),
  );
  return ways.find(way => way.name === byId('along').value);
}

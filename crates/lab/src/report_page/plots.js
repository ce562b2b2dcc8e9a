// The three plots, of the runs that the reader has chosen.

const TIME = {
  title: 'time',
  write: value => (value < 1 ? `${trimmed(value * 1e3)} ms` : `${trimmed(value).replace(/\B(?=(\d{3})+$)/g, ',')} s`),
};

/** Of runs of one series, size and link, the last: it is what was recorded anew. */
function lastOfEach(runs, key) {
  return [...new Map(runs.map(run => [key(run), run])).values()];
}

function bySeries(runs) {
  const groups = new Map();
  for (const run of runs) groups.set(run.series, [...(groups.get(run.series) ?? []), run]);
  return groups;
}

function told(run) {
  const { protocol } = DATA.series[run.series];
  const figures = [seconds(run.seconds), bytes(run.bytes), sizes(run.sender_items, run.receiver_items), run.link.label];
  return `${protocol}: ${figures.join(', ')}`;
}

/** Time against bytes; the runs that no other run beats in both are joined. */
function drawPareto(chosen, link) {
  const runs = lastOfEach(
    chosen.runs.filter(
      run => run.link.label === link && run.sender_items === chosen.sender && run.receiver_items === chosen.receiver,
    ),
    run => run.series,
  );
  const isBest = run =>
    !runs.some(
      other =>
        other !== run &&
        other.bytes <= run.bytes &&
        other.seconds <= run.seconds &&
        (other.bytes < run.bytes || other.seconds < run.seconds),
    );
  const front = runs.filter(isBest).sort((one, other) => one.bytes - other.bytes);
  draw(byId('pareto'), {
    title: 'Time against bytes',
    about:
      `${sizes(chosen.sender, chosen.receiver)} items, measured over ${link}. ` +
      'Left and low is good; the dashed line joins runs that no other beats in both.',
    x: { title: 'bytes of both sides', write: value => bytes(value).replace(/\.0+(?= )/, '') },
    y: TIME,
    labels: 'point',
    front: front.map(run => ({ x: run.bytes, y: run.seconds })),
    sets: runs.map(run => ({
      protocol: DATA.series[run.series].protocol,
      first: isBest(run),
      points: [{ x: run.bytes, y: run.seconds, text: told(run) }],
    })),
    rows: {
      head: ['Protocol', 'Bytes', 'Time', 'Beaten by none in both'],
      body: [...runs]
        .sort((one, other) => one.bytes - other.bytes)
        .map(run => [
          DATA.series[run.series].protocol,
          bytes(run.bytes),
          seconds(run.seconds),
          isBest(run) ? 'yes' : 'no',
        ]),
    },
  });
}

/** Ways through the measured sizes. */
function waysThrough(chosen) {
  return [
    ['equal', 'both sides equal', run => run.sender_items === run.receiver_items, run => run.sender_items],
    [
      'sender',
      `the sender’s, with ${items(chosen.receiver)} of the receiver`,
      run => run.receiver_items === chosen.receiver,
      run => run.sender_items,
    ],
    [
      'receiver',
      `the receiver’s, with ${items(chosen.sender)} of the sender`,
      run => run.sender_items === chosen.sender,
      run => run.receiver_items,
    ],
  ].map(([name, title, isOnIt, size]) => ({ name, title, isOnIt, size }));
}

/** Time against size. */
function drawSizes(chosen, link, way) {
  const runs = lastOfEach(
    chosen.runs.filter(run => run.link.label === link && way.isOnIt(run)),
    run => `${run.series} ${way.size(run)}`,
  );
  const groups = [...bySeries(runs)].map(([series, group]) => [
    series,
    group.sort((one, other) => way.size(one) - way.size(other)),
  ]);
  draw(byId('by-size'), {
    title: 'Time against size',
    about: `Sizes along: ${way.title}. Measured over ${link}.`,
    x: { title: 'items', write: items, base: 2 },
    y: TIME,
    labels: 'end',
    sets: groups.map(([series, group]) => ({
      protocol: DATA.series[series].protocol,
      joined: true,
      points: group.map(run => ({ x: way.size(run), y: run.seconds, text: told(run) })),
    })),
    rows: {
      head: ['Protocol', 'Sender’s items', 'Receiver’s items', 'Time'],
      body: groups.flatMap(([, group]) =>
        group.map(run => [
          DATA.series[run.series].protocol,
          items(run.sender_items),
          items(run.receiver_items),
          seconds(run.seconds),
        ]),
      ),
    },
  });
}

/** Time against bandwidth by the model, with the measured runs of the same round trip. */
function drawRates(chosen, link, prices) {
  const rates = [];
  for (let exponent = 6; exponent <= 10.01; exponent += 0.25) rates.push(10 ** exponent);
  const measured = chosen.runs.filter(
    run =>
      run.link.bits_per_second &&
      run.sender_items === chosen.sender &&
      run.receiver_items === chosen.receiver &&
      Math.abs(run.link.round_trip_ms / 1e3 - link.roundTrip) < 1e-6,
  );
  const sets = chosen.series
    .map(series => ({
      series,
      protocol: DATA.series[series].protocol,
      line: rates.map(speed => ({
        x: speed,
        y: predict(series, chosen.sender, chosen.receiver, { ...link, rate: speed }, prices)?.total,
      })),
      points: lastOfEach(
        measured.filter(run => run.series === series),
        run => run.link.label,
      ).map(run => ({ x: run.link.bits_per_second, y: run.seconds, text: told(run) })),
    }))
    .filter(set => set.line[0].y !== undefined);
  const trip = `${trimmed(link.roundTrip * 1e3)} ms`;
  draw(byId('by-rate'), {
    title: 'Time against bandwidth',
    about:
      `${sizes(chosen.sender, chosen.receiver)} items, round trip ${trip}. ` +
      'Lines: the model. Marks: measured over a link of this round trip.',
    x: { title: 'bandwidth', write: rate },
    y: TIME,
    labels: 'end',
    here: link.rate >= 1e6 && link.rate <= 1e10 ? link.rate : undefined,
    sets,
    rows: {
      head: ['Protocol', 'Bandwidth', 'Model', 'Measured'],
      body: sets.flatMap(set =>
        set.line
          .filter((_, place) => place % 4 === 0)
          .map(point => {
            const run = set.points.find(other => Math.abs(other.x / point.x - 1) < 1e-6);
            return [set.protocol, rate(point.x), seconds(point.y), run ? seconds(run.y) : '–'];
          }),
      ),
    },
  });
}

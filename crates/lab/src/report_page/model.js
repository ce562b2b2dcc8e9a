// The model of `vesica plan`, on recorded runs.

const DATA = JSON.parse(byId('data').textContent);

/** Points of each series, by its place. */
const POINTS = DATA.series.map(() => []);
for (const point of DATA.points) POINTS[point.series].push(point);

/** Seconds that `count` bytes take over a link: a channel has no more than a window a round trip under way. */
function transferSeconds(link, count) {
  const window = link.roundTrip > 0 ? (DATA.window_bytes * 8) / link.roundTrip : Infinity;
  return (count * 8) / Math.min(link.rate, window);
}

/** The value at `x` on the straight line through two points. */
function onLine(x, [x0, y0], [x1, y1]) {
  return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

/**
 * What a series computes and sends at these sizes: as measured, or between two measured sizes that differ in one side
 * only, or have the same ratio. Nothing is said beyond the measured sizes.
 */
function at(series, sender, receiver) {
  const points = POINTS[series];
  const exact = points.find(point => point.sender_items === sender && point.receiver_items === receiver);
  if (exact) return { ...exact, between: null };
  const lines = [
    [point => point.receiver_items === receiver, point => point.sender_items, sender],
    [point => point.sender_items === sender, point => point.receiver_items, receiver],
    [point => point.sender_items * receiver === point.receiver_items * sender, point => point.sender_items, sender],
  ];
  for (const [isOnLine, size, wanted] of lines) {
    const line = points.filter(isOnLine).sort((one, other) => size(one) - size(other));
    const next = line.findIndex(point => size(point) > wanted);
    if (next < 1) continue;
    const [low, high] = [line[next - 1], line[next]];
    const value = name => onLine(wanted, [size(low), low[name]], [size(high), high[name]]);
    return {
      series,
      seconds: value('seconds'),
      sender_bytes: value('sender_bytes'),
      receiver_bytes: value('receiver_bytes'),
      from: low.from ?? high.from,
      between: [low, high],
    };
  }
  return null;
}

/** What a run takes over a link, in seconds, bytes and US dollars; null where nothing is known. */
function predict(series, sender, receiver, link, prices) {
  const point = at(series, sender, receiver);
  const { rounds } = DATA.series[series];
  if (!point || (!rounds && link.roundTrip > 0)) return null;
  const count = point.sender_bytes + point.receiver_bytes;
  const computing = point.seconds;
  const transfer = transferSeconds(link, count);
  // A round is one message that waits for the one before it: half a round trip.
  const waiting = rounds ? (rounds[1] / 2) * link.roundTrip : 0;
  const total = computing + transfer + waiting;
  const usd =
    (2 * total * prices.core) / 3600 +
    (point.sender_bytes / 1e9) * prices.sender +
    (point.receiver_bytes / 1e9) * prices.receiver;
  return { series, computing, transfer, waiting, total, bytes: count, usd, from: point.from, between: point.between };
}

/** How far the model is off, for runs that it was held against. */
function errors(runs) {
  const off = runs.map(run => Math.abs(run.model_seconds / run.seconds - 1)).sort((one, other) => one - other);
  const quantile = share => off[Math.min(off.length - 1, Math.floor(share * off.length))];
  return { median: quantile(0.5), nineOfTen: quantile(0.9), most: off[off.length - 1] };
}

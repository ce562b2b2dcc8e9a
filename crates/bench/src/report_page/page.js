// The panel of the reader's link, and what follows from its settings.

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
  const wanted = series => String(series.recording) === byId('recording').value && series.task === byId('task').value &&
    series.security === byId('security').value && series.amounts === byId('amounts').value;
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
  return [...counts].map(([key, count]) => [...key.split(' ').map(Number), count])
    .sort((one, other) => other[2] - one[2] || other[0] - one[0]);
}

/** The fields that depend on each other, from the recording down. */
function refillChoice() {
  const of = conditions => DATA.series.filter(series => conditions.every(([id, value]) => byId(id).value === String(value(series))));
  const recording = ['recording', series => series.recording];
  const task = ['task', series => series.task];
  const security = ['security', series => series.security];
  const most = values => distinct(values).sort((one, other) =>
    values.filter(value => value === other).length - values.filter(value => value === one).length);
  fill(byId('task'), most(of([recording]).map(task[1])).map(value => [value, value]));
  fill(byId('security'), most(of([recording, task]).map(security[1])).map(value => [value, value]));
  fill(byId('amounts'), most(of([recording, task, security]).map(series => series.amounts))
    .map(value => [value, value || (DATA.runs.length ? 'none (half of the items in common)' : '')]));
  const { series } = readChoice();
  const common = commonSizes(series);
  const isKnown = common.some(([sender, receiver]) =>
    sender === parseItems(byId('sender-items').value) && receiver === parseItems(byId('receiver-items').value));
  if (!isKnown && common.length > 0) setSizes(common[0][0], common[0][1]);
  byId('common-sizes').replaceChildren(...common.slice(0, 8).flatMap(([sender, receiver, count]) => [
    html('button', { type: 'button', class: 'as-link', onclick: () => { setSizes(sender, receiver); update(); } },
      `${sizes(sender, receiver)}`), ` (${count}) `]));
  const choices = place => distinct(common.map(pair => pair[place])).sort((one, other) => one - other)
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
  const links = readChoice().runs.filter(run => run.link.bits_per_second).map(run => run.link);
  const count = link => links.filter(other => other.label === link.label).length;
  const different = [...new Map(links.map(link => [link.label, link])).values()].sort((one, other) => count(other) - count(one));
  const measured = different.map(link => [link.label, `measured: ${link.label}`, link.bits_per_second, link.round_trip_ms]);
  const all = [...measured, ...PRESETS, ['own', 'as set here', NaN, NaN]];
  fill(byId('preset'), all, measured.length > 0 ? measured[0][0] : 'site');
  return all;
}

function refillPlots(chosen) {
  const counts = new Map();
  for (const run of chosen.runs) counts.set(run.link.label, (counts.get(run.link.label) ?? 0) + 1);
  fill(byId('measured-link'), [...counts].sort((one, other) => other[1] - one[1]).map(([label, count]) => [label, `${label} (${count} runs)`]));
  const ways = waysThrough(chosen).map(way => ({ ...way, count: chosen.runs.filter(way.isOnIt).length })).filter(way => way.count > 0);
  ways.sort((one, other) => other.count - one.count);
  fill(byId('along'), ways.map(way => [way.name, way.title]));
  return ways.find(way => way.name === byId('along').value);
}

function rank(chosen, link, prices) {
  const by = byId('rank-by').value;
  const ranked = chosen.series.map(series => predict(series, chosen.sender, chosen.receiver, link, prices)).filter(Boolean)
    .sort((one, other) => one[by] - other[by]);
  const missing = chosen.series.filter(series => !ranked.some(one => one.series === series));
  const most = Math.max(...ranked.map(one => one.total));
  const isHere = run => run.sender_items === chosen.sender && run.receiver_items === chosen.receiver &&
    (run.link.bits_per_second ?? Infinity) === link.rate && Math.abs(run.link.round_trip_ms / 1e3 - link.roundTrip) < 1e-6;
  const measured = new Map(chosen.runs.filter(isHere).map(run => [run.series, run]));
  const part = (one, name) => html('span', { class: name, style: `width:${((100 * one[name]) / most).toFixed(2)}%` });
  const note = one => [
    one.between ? `between ${one.between.map(point => sizes(point.sender_items, point.receiver_items)).join(' and ')}` : null,
    one.from ? `computing from ${one.from}` : null,
  ].filter(Boolean).join('; ');
  const key = (name, text) => [html('span', { class: `key ${name}` }), ` ${text}`];
  const heads = [['Rank', true], ['Protocol'], ['Time', true], [[key('computing', 'computing, '), key('transfer', 'transfer, '), key('waiting', 'waiting')]],
    ['Computing', true], ['Transfer', true], ['Waiting', true], ['Bytes', true], ['USD a run', true], ['Measured (model)', true], ['Note']];
  byId('ranking').replaceChildren(
    html('caption', {}, `${sizes(chosen.sender, chosen.receiver)} items over ${rate(link.rate)} with a round trip of ${trimmed(link.roundTrip * 1e3)} ms`),
    html('thead', {}, html('tr', {}, heads.map(([text, isNumber]) => html('th', { scope: 'col', class: isNumber ? 'number' : null }, text)))),
    html('tbody', {}, ranked.map((one, place) => {
      const run = measured.get(one.series);
      const number = text => html('td', { class: 'number' }, text);
      return html('tr', { class: place === 0 ? 'first' : null, 'data-protocol': DATA.series[one.series].protocol, 'data-seconds': one.total },
        number(String(place + 1)), html('th', { scope: 'row' }, protocolCell(one.series)), number(seconds(one.total)),
        html('td', {}, html('div', { class: 'bar', 'aria-hidden': 'true' }, ['computing', 'transfer', 'waiting'].map(name => part(one, name)))),
        number(seconds(one.computing)), number(seconds(one.transfer)), number(seconds(one.waiting)), number(bytes(one.bytes)),
        number(one.usd.toPrecision(2)), number(run ? modelBeside(run, one.total) : '–'),
        html('td', { class: 'quiet' }, note(one)));
    })));
  const names = missing.map(series => DATA.series[series].protocol).join(', ');
  byId('unranked').textContent = names ? `Not ranked, for want of a run with right outputs at or around this size, or of a known number of rounds: ${names}.` : '';
  const first = ranked[0];
  const amount = first && (by === 'usd' ? `${first.usd.toPrecision(2)} USD` : by === 'bytes' ? bytes(first.bytes) : seconds(first.total));
  say(first ? `First of ${ranked.length}: ${DATA.series[first.series].protocol}, ${amount}.` : 'No protocol was measured at or around this size: take one of the sizes above.', !first);
}

/** A measured time, and how far the model is off, unless the model's computing is that run's own. */
function modelBeside(run, total) {
  return run.model_seconds === null ? seconds(run.seconds) : `${seconds(run.seconds)} (${signed(total / run.seconds - 1)})`;
}

function say(text, isBad) {
  byId('link-state').className = isBad ? 'bad' : '';
  byId('link-state').textContent = text;
}

/** The model beside every measured run over a shaped link, of the chosen recording and task. */
function showErrors() {
  const runs = DATA.runs.filter(run => run.model_seconds !== null && String(seriesOf(run).recording) === byId('recording').value &&
    seriesOf(run).task === byId('task').value);
  const details = byId('model-error');
  details.hidden = runs.length === 0;
  if (runs.length === 0) return;
  const percent = share => `${Math.round(share * 100)}%`;
  const { median, nineOfTen, most } = errors(runs);
  details.querySelector('summary').textContent = `How far off the model is: in ${runs.length} run${runs.length > 1 ? 's' : ''} of this recording and task over shaped links, by ` +
    `${percent(median)} in the median, by ${percent(nineOfTen)} or less in nine of ten, by ${percent(most)} at most`;
  const number = text => html('td', { class: 'number' }, text);
  const sorted = [...runs].sort((one, other) => Math.abs(Math.log(other.model_seconds / other.seconds)) - Math.abs(Math.log(one.model_seconds / one.seconds)));
  details.querySelector('table').replaceChildren(
    html('thead', {}, html('tr', {}, ['Protocol', 'Mode', 'Items', 'Link', 'Measured', 'Model', 'Model is off by'].map((text, place) =>
      html('th', { scope: 'col', class: place > 3 ? 'number' : null }, text)))),
    html('tbody', {}, sorted.map(run => html('tr', {}, html('th', { scope: 'row' }, protocolCell(run.series)), html('td', {}, seriesOf(run).security),
      html('td', {}, sizes(run.sender_items, run.receiver_items)), html('td', {}, run.link.label),
      number(seconds(run.seconds)), number(seconds(run.model_seconds)), number(signed(run.model_seconds / run.seconds - 1))))));
}

function update() {
  const chosen = readChoice();
  const { link, prices } = readLink();
  const isWhole = [chosen.sender, chosen.receiver, link.rate, link.roundTrip, ...Object.values(prices)].every(value => !Number.isNaN(value));
  if (!isWhole) {
    say('A field is no number: the ranking is that of the last numbers.', true);
    return;
  }
  rank(chosen, link, prices);
  const way = refillPlots(chosen);
  const measured = byId('measured-link').value;
  drawPareto(chosen, measured);
  if (way) drawSizes(chosen, measured, way);
  drawRates(chosen, link, prices);
}

function chooseTraffic() {
  const traffic = DATA.prices.traffic.find(one => one.kind === byId('traffic').value);
  if (!traffic) return;
  byId('sender-price').value = String(traffic.sender_usd_per_gb);
  byId('receiver-price').value = String(traffic.receiver_usd_per_gb);
}

function startHeader() {
  const { recordings, runs, version } = DATA;
  byId('about').textContent = `${runs.length.toLocaleString('en')} runs of ${recordings.length} recording${recordings.length > 1 ? 's' : ''}. ` +
    'Times are of one machine on one day: compare them within one recording only. Bytes do not depend on the machine.';
  const list = html('ul', { class: 'hint' }, recordings.map(recording => html('li', {}, html('b', {}, recording.label),
    `: ${recording.machine ?? 'a machine that its README.md does not name'}` +
    (recording.passed_over > 0 ? `; ${recording.passed_over} line${recording.passed_over > 1 ? 's' : ''} of other kinds passed over` : ''))));
  byId('recordings').append(recordings.length > 4 ? html('details', {}, html('summary', {}, 'The recordings and their machines'), list) : list);
  byId('made').textContent = `Made by vesica ${version} bench report. Prices: ${DATA.prices.title}.`;
}

function start() {
  startHeader();
  startRuns();
  const sizesOf = recording => DATA.series.filter(series => series.recording === recording).length;
  fill(byId('recording'), DATA.recordings.map((recording, place) => [place, recording.label])
    .filter(([place]) => sizesOf(place) > 0));
  fill(byId('traffic'), [...DATA.prices.traffic.map(one => [one.kind, one.kind]), ['own', 'as set here']], 'internet');
  byId('core-price').value = String(DATA.prices.core_usd_per_hour);
  chooseTraffic();
  refillChoice();
  let presets = refillPresets();
  const choosePreset = () => {
    const preset = presets.find(([value]) => value === byId('preset').value);
    if (preset && !Number.isNaN(preset[2])) setLink(preset[2], preset[3]);
  };
  choosePreset();
  update();
  showErrors();

  onEdit(byId('choice'), event => {
    if (event.target.tagName === 'SELECT') {
      refillChoice();
      presets = refillPresets();
      choosePreset();
      showErrors();
    }
    update();
  });
  onEdit(byId('link'), event => {
    if (event.target.id === 'preset') choosePreset();
    else if (['rate', 'rate-unit', 'round-trip'].includes(event.target.id)) byId('preset').value = 'own';
    if (event.target.id === 'traffic') chooseTraffic();
    else if (['sender-price', 'receiver-price'].includes(event.target.id)) byId('traffic').value = 'own';
    update();
  });
  onEdit(byId('plot-choice'), update);
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    update();
  });
}

start();

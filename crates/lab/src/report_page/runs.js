// The table of all runs: sorted by any column, filtered by text and by choices.

const COLUMNS = [
  { title: 'Protocol', value: run => seriesOf(run).protocol, show: run => protocolCell(run.series) },
  { title: 'Task', value: run => seriesOf(run).task, show: run => [seriesOf(run).task, furtherSettings(run)] },
  { title: 'Mode', value: run => seriesOf(run).security },
  { title: 'Sender’s items', value: run => run.sender_items, show: run => items(run.sender_items), number: true },
  { title: 'Receiver’s items', value: run => run.receiver_items, show: run => items(run.receiver_items), number: true },
  {
    title: 'Link',
    value: run => [-(run.link.bits_per_second ?? Infinity), run.link.round_trip_ms],
    show: run => run.link.label,
  },
  { title: 'Time', value: run => run.seconds, show: run => seconds(run.seconds), number: true },
  { title: 'Bytes', value: run => run.bytes, show: run => bytes(run.bytes), number: true },
  { title: 'Output checked', value: run => Number(run.correct), show: run => check(run.correct, 'right', 'wrong') },
  {
    title: 'Bytes = formula',
    value: run => Number(run.bytes_as_formula),
    show: run => check(run.bytes_as_formula, 'yes', 'no', formulaTold(run)),
  },
  { title: 'Model', value: run => run.model_seconds, show: run => modelCell(run), number: true },
  {
    title: 'Quartiles',
    value: run => (run.repeats === 1 ? null : (run.quartiles[1] - run.quartiles[0]) / run.seconds),
    show: run => spreadOf(run),
    number: true,
  },
  { title: 'Set-up', value: run => run.setup_seconds, show: run => seconds(run.setup_seconds), number: true },
  {
    title: 'Peak memory',
    value: run => Math.max(...run.memory),
    show: run => `${digits(Math.max(...run.memory) / 2 ** 20)} MiB`,
    number: true,
  },
];
if (DATA.recordings.length > 1) COLUMNS.push({ title: 'Recording', value: run => recordingOf(run).label });

const order = { column: 6, isDescending: false };

function seriesOf(run) {
  return DATA.series[run.series];
}

function recordingOf(run) {
  return DATA.recordings[seriesOf(run).recording];
}

function protocolCell(series) {
  const { protocol, broken } = DATA.series[series];
  return [swatch(protocol), protocol, broken ? html('span', { class: 'tag bad' }, 'broken') : null];
}

function furtherSettings(run) {
  const { amounts } = seriesOf(run);
  return amounts ? html('span', { class: 'quiet' }, ` (${amounts})`) : null;
}

/** The quartiles of a run's repeats. */
function spreadOf(run) {
  const [low, high] = run.quartiles.map(seconds);
  if (run.repeats === 1) return html('span', { class: 'quiet' }, 'one run');
  const unit = low.slice(-2) === high.slice(-2) ? low.replace(/ m?s$/, '') : low;
  return `${unit} to ${high}`;
}

function modelCell(run) {
  if (run.model_seconds === null) return html('span', { class: 'quiet' }, '–');
  return [
    seconds(run.model_seconds),
    html('span', { class: 'quiet' }, ` (${signed(run.model_seconds / run.seconds - 1)})`),
  ];
}

/** A share as percent with its sign. */
function signed(share) {
  const percent = Math.round(share * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)}%`;
}

/** A mark that does not rest on its colour. */
function check(isGood, good, bad, title) {
  return html('span', { class: isGood ? 'good' : 'bad', title }, isGood ? `✓ ${good}` : `✗ ${bad}`);
}

function formulaTold(run) {
  const [least, most] = run.formula_bytes;
  const range =
    least === most ? least.toLocaleString('en') : `${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
  return `formula: ${range} bytes; sent with framing: ${run.bytes.toLocaleString('en')}`;
}

/** Negative, zero or positive, as for sort; what is not known comes last in either direction. */
function compare(one, other, sign) {
  if (Array.isArray(one)) return compare(one[0], other[0], sign) || compare(one[1], other[1], sign);
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === 'string') return sign * one.localeCompare(other, 'en', { numeric: true });
  return one === other ? 0 : sign * (one < other ? -1 : 1);
}

function isWanted(run) {
  const series = seriesOf(run);
  const words = byId('find').value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [run.name, series.protocol, series.task, series.security, series.amounts, run.link.label]
    .join(' ')
    .toLowerCase();
  const checks = byId('by-checks').value;
  const isGood = run.correct && run.bytes_as_formula;
  return (
    words.every(word => text.includes(word)) &&
    ['', String(series.recording)].includes(byId('by-recording').value) &&
    ['', series.task].includes(byId('by-task').value) &&
    ['', series.security].includes(byId('by-security').value) &&
    ['', run.link.label].includes(byId('by-link').value) &&
    (checks === '' || isGood === (checks === 'good'))
  );
}

function listRuns() {
  const shown = DATA.runs.filter(isWanted);
  const { value } = COLUMNS[order.column];
  const sign = order.isDescending ? -1 : 1;
  shown.sort((one, other) => compare(value(one), value(other), sign));
  byId('all').tBodies[0].replaceChildren(
    ...shown.map(run =>
      html(
        'tr',
        { title: run.name },
        COLUMNS.map((column, place) =>
          html(
            place === 0 ? 'th' : 'td',
            { scope: place === 0 ? 'row' : null, class: column.number ? 'number' : null },
            column.show ? column.show(run) : column.value(run),
          ),
        ),
      ),
    ),
  );
  byId('shown').textContent = `${shown.length.toLocaleString('en')} of ${DATA.runs.length.toLocaleString('en')} runs.`;
  COLUMNS.forEach((_, place) => {
    const head = byId('all').tHead.rows[0].cells[place];
    if (place === order.column) head.setAttribute('aria-sort', order.isDescending ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
  });
}

function sortBy(column) {
  order.isDescending = order.column === column && !order.isDescending;
  order.column = column;
  listRuns();
}

function startRuns() {
  const heads = COLUMNS.map((column, place) =>
    html(
      'th',
      { scope: 'col', class: column.number ? 'number' : null },
      html('button', { type: 'button', onclick: () => sortBy(place) }, column.title),
    ),
  );
  byId('all').append(
    html('caption', {}, 'A button in the head of a column sorts by it; once more turns the order.'),
    html('thead', {}, html('tr', {}, heads)),
    html('tbody'),
  );
  const any = (select, values) =>
    fill(select, [['', 'all'], ...values.map(value => (Array.isArray(value) ? value : [value, value]))], '');
  any(
    byId('by-recording'),
    DATA.recordings.map((recording, place) => [place, recording.label]),
  );
  any(byId('by-task'), distinct(DATA.series.map(series => series.task)));
  any(byId('by-security'), distinct(DATA.series.map(series => series.security)));
  any(byId('by-link'), distinct(DATA.runs.map(run => run.link.label)));
  onEdit(byId('filter'), listRuns);
  listRuns();
}

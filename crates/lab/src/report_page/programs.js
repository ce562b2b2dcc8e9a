// The table of programs of others, CSV to CSV: apart from the runs of protocols, which measure something else.

/** What stands where a run that failed has no figure. */
function orNone(value, write) {
  return value === null ? html('span', { class: 'quiet' }, '–') : write(value);
}

const PROGRAM_COLUMNS = [
  { title: 'Program', show: run => run.label },
  { title: 'Measured', show: run => run.measured },
  { title: 'Sender’s rows', show: run => items(run.sender_items), number: true },
  { title: 'Receiver’s rows', show: run => items(run.receiver_items), number: true },
  { title: 'Rows in both', show: run => items(run.intersection), number: true },
  { title: 'Link', show: run => run.link.label },
  { title: 'Time', show: run => orNone(run.seconds, seconds), number: true },
  {
    title: 'Quartiles',
    show: run => orNone(run.quartiles, ([low, high]) => `${seconds(low)} to ${seconds(high)}`),
    number: true,
  },
  {
    title: 'CPU, sender + receiver',
    show: run => orNone(run.cpu_seconds, both => both.map(seconds).join(' + ')),
    number: true,
  },
  {
    title: 'Bytes',
    show: run => (run.correct && run.bytes === null ? 'not counted' : orNone(run.bytes, bytes)),
    number: true,
  },
  {
    title: 'Peak memory',
    show: run => orNone(run.memory, both => `${digits(Math.max(...both) / 2 ** 20)} MiB`),
    number: true,
  },
  { title: 'Outcome', show: run => [check(run.correct, run.outcome, run.outcome), run.fault ? `: ${run.fault}` : null] },
];

function startPrograms() {
  byId('programs').hidden = DATA.programs.length === 0;
  const columns = [...PROGRAM_COLUMNS];
  if (DATA.recordings.length > 1) {
    columns.push({ title: 'Recording', show: run => DATA.recordings[run.recording].label });
  }
  const shown = [...DATA.programs].sort(
    (one, other) =>
      one.recording - other.recording ||
      one.sender_items + one.receiver_items - other.sender_items - other.receiver_items ||
      (one.seconds ?? Infinity) - (other.seconds ?? Infinity) ||
      one.label.localeCompare(other.label, 'en', { numeric: true }),
  );
  byId('all-programs').append(
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        columns.map(column => html('th', { scope: 'col', class: column.number ? 'number' : null }, column.title)),
      ),
    ),
    html(
      'tbody',
      {},
      shown.map(run =>
        html(
          'tr',
          { title: run.name },
          columns.map((column, place) =>
            html(
              place === 0 ? 'th' : 'td',
              { scope: place === 0 ? 'row' : null, class: column.number ? 'number' : null },
              column.show(run),
            ),
          ),
        ),
      ),
    ),
  );
}

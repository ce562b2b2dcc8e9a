// The protocols in the order of the reader's link, and how far off the model is.

function rank(chosen, link, prices) {
  const by = byId('rank-by').value;
  const ranked = chosen.series
    .map(series => predict(series, chosen.sender, chosen.receiver, link, prices))
    .filter(Boolean)
    .sort((one, other) => one[by] - other[by]);
  const missing = chosen.series.filter(series => !ranked.some(one => one.series === series));
  const most = Math.max(...ranked.map(one => one.total));
  const isHere = run =>
    run.sender_items === chosen.sender &&
    run.receiver_items === chosen.receiver &&
    (run.link.bits_per_second ?? Infinity) === link.rate &&
    Math.abs(run.link.round_trip_ms / 1e3 - link.roundTrip) < 1e-6;
  const measured = new Map(chosen.runs.filter(isHere).map(run => [run.series, run]));
  const part = (one, name) => html('span', { class: name, style: `width:${((100 * one[name]) / most).toFixed(2)}%` });
  const note = one =>
    [
      one.between
        ? `between ${one.between.map(point => sizes(point.sender_items, point.receiver_items)).join(' and ')}`
        : null,
      one.from ? `computing from ${one.from}` : null,
    ]
      .filter(Boolean)
      .join('; ');
  const key = name => html('span', { class: 'together' }, html('span', { class: `key ${name}` }), ` ${name}`);
  const heads = [
    ['Rank', true],
    ['Protocol'],
    ['Time', true],
    [[key('computing'), ' ', key('transfer'), ' ', key('waiting')]],
    ['Computing', true],
    ['Transfer', true],
    ['Waiting', true],
    ['Bytes', true],
    ['USD a run', true],
    ['Measured (model)', true],
    ['Note'],
  ];
  byId('ranking').replaceChildren(
    html(
      'caption',
      {},
      `${sizes(chosen.sender, chosen.receiver)} items over ${rate(link.rate)} ` +
        `with a round trip of ${trimmed(link.roundTrip * 1e3)} ms`,
    ),
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        heads.map(([text, isNumber]) => html('th', { scope: 'col', class: isNumber ? 'number' : null }, text)),
      ),
    ),
    html(
      'tbody',
      {},
      ranked.map((one, place) => {
        const run = measured.get(one.series);
        const number = text => html('td', { class: 'number' }, text);
        return html(
          'tr',
          {
            class: place === 0 ? 'first' : null,
            'data-protocol': DATA.series[one.series].protocol,
            'data-seconds': one.total,
          },
          number(String(place + 1)),
          html('th', { scope: 'row' }, protocolCell(one.series)),
          number(seconds(one.total)),
          html(
            'td',
            {},
            html(
              'div',
              { class: 'bar', 'aria-hidden': 'true' },
              ['computing', 'transfer', 'waiting'].map(name => part(one, name)),
            ),
          ),
          number(seconds(one.computing)),
          number(seconds(one.transfer)),
          number(seconds(one.waiting)),
          number(bytes(one.bytes)),
          number(one.usd.toPrecision(2)),
          number(run ? modelBeside(run, one.total) : '–'),
          html('td', { class: 'quiet' }, note(one)),
        );
      }),
    ),
  );
  const names = missing.map(series => DATA.series[series].protocol).join(', ');
  byId('unranked').textContent = names
    ? 'Not ranked, for want of a run with right outputs at or around this size, or of a known number of rounds: ' +
      `${names}.`
    : '';
  const first = ranked[0];
  const amount =
    first &&
    (by === 'usd' ? `${first.usd.toPrecision(2)} USD` : by === 'bytes' ? bytes(first.bytes) : seconds(first.total));
  say(
    first
      ? `First of ${ranked.length}: ${DATA.series[first.series].protocol}, ${amount}.`
      : 'No protocol was measured at or around this size: take one of the sizes above.',
    !first,
  );
}

/** A measured time, and how far the model is off, unless the model's computing is that run's own. */
function modelBeside(run, total) {
  return run.model_seconds === null
    ? seconds(run.seconds)
    : `${seconds(run.seconds)} (${signed(total / run.seconds - 1)})`;
}

function say(text, isBad) {
  byId('link-state').className = isBad ? 'bad' : '';
  byId('link-state').textContent = text;
}

/** The model beside every measured run over a shaped link, of the chosen recording and task. */
function showErrors() {
  const runs = DATA.runs.filter(
    run =>
      run.model_seconds !== null &&
      String(seriesOf(run).recording) === byId('recording').value &&
      seriesOf(run).task === byId('task').value,
  );
  const details = byId('model-error');
  details.hidden = runs.length === 0;
  if (runs.length === 0) return;
  const percent = share => `${Math.round(share * 100)}%`;
  const { median, nineOfTen, most } = errors(runs);
  details.querySelector('summary').textContent =
    `How far off the model is: in ${runs.length} run${runs.length > 1 ? 's' : ''} of this recording and task ` +
    'over shaped links, by ' +
    `${percent(median)} in the median, by ${percent(nineOfTen)} or less in nine of ten, by ${percent(most)} at most`;
  const number = text => html('td', { class: 'number' }, text);
  const sorted = [...runs].sort(
    (one, other) =>
      Math.abs(Math.log(other.model_seconds / other.seconds)) - Math.abs(Math.log(one.model_seconds / one.seconds)),
  );
  details.querySelector('table').replaceChildren(
    html(
      'thead',
      {},
      html(
        'tr',
        {},
        ['Protocol', 'Mode', 'Items', 'Link', 'Measured', 'Model', 'Model is off by'].map((text, place) =>
          html('th', { scope: 'col', class: place > 3 ? 'number' : null }, text),
        ),
      ),
    ),
    html(
      'tbody',
      {},
      sorted.map(run =>
        html(
          'tr',
          {},
          html('th', { scope: 'row' }, protocolCell(run.series)),
          html('td', {}, seriesOf(run).security),
          html('td', {}, sizes(run.sender_items, run.receiver_items)),
          html('td', {}, run.link.label),
          number(seconds(run.seconds)),
          number(seconds(run.model_seconds)),
          number(signed(run.model_seconds / run.seconds - 1)),
        ),
      ),
    ),
  );
}

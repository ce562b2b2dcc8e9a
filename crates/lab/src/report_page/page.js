// What follows from each change, and the start.

function update() {
  const chosen = readChoice();
  const { link, prices } = readLink();
  const isWhole = [chosen.sender, chosen.receiver, link.rate, link.roundTrip, ...Object.values(prices)].every(
    value => !Number.isNaN(value),
  );
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
  const { recordings, runs, programs, version } = DATA;
  const several = recordings.length > 1 ? 's' : '';
  const others = programs.length > 0 ? ` and ${programs.length.toLocaleString('en')} of programs, CSV to CSV,` : '';
  byId('about').textContent =
    `${runs.length.toLocaleString('en')} runs${others} of ${recordings.length} recording${several}. ` +
    'Times are of one machine on one day: compare them within one recording only. Bytes do not depend on the machine.';
  const list = html(
    'ul',
    { class: 'hint' },
    recordings.map(recording =>
      html(
        'li',
        {},
        html('b', {}, recording.label),
        `: ${recording.machine ?? 'a machine that its README.md does not name'}` +
          (recording.passed_over > 0
            ? `; ${recording.passed_over} line${recording.passed_over > 1 ? 's' : ''} of other kinds passed over`
            : ''),
      ),
    ),
  );
  byId('recordings').append(
    recordings.length > 4 ? html('details', {}, html('summary', {}, 'The recordings and their machines'), list) : list,
  );
  byId('made').textContent = `Made by vesica ${version} bench report. Prices: ${DATA.prices.title}.`;
}

function start() {
  startHeader();
  startPrograms();
  if (DATA.runs.length === 0) {
    for (const section of document.querySelectorAll('main > section:not(#programs)')) section.hidden = true;
    return;
  }
  startRuns();
  const sizesOf = recording => DATA.series.filter(series => series.recording === recording).length;
  fill(
    byId('recording'),
    DATA.recordings.map((recording, place) => [place, recording.label]).filter(([place]) => sizesOf(place) > 0),
  );
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

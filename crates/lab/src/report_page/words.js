// Numbers as words, and elements. Text of the data becomes text nodes only, never HTML.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A number of items: a power of two from 2^6 on as one, others with their digits in groups. */
function items(count) {
  const log = Math.log2(count);
  if (log >= 6 && Number.isInteger(log)) return '2' + [...String(log)].map(digit => SUPERSCRIPTS[digit]).join('');
  return count.toLocaleString('en');
}

/** Two sizes, of the sender and the receiver. */
function sizes(sender, receiver) {
  return `${items(sender)} × ${items(receiver)}`;
}

/** Three digits that count. */
function digits(value) {
  if (value === 0) return '0';
  if (value >= 999.5) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3).includes('e') ? value.toExponential(1) : value.toPrecision(3);
}

function seconds(value) {
  return value > 0 && value < 0.0995 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`;
}

function bytes(value) {
  if (value >= 999.5e6) return `${digits(value / 1e9)} GB`;
  if (value >= 999.5e3) return `${digits(value / 1e6)} MB`;
  return `${digits(value / 1e3)} kB`;
}

function rate(value) {
  if (value === Infinity) return 'no limit';
  if (value >= 1e9) return `${trimmed(value / 1e9)} Gbit/s`;
  if (value >= 1e6) return `${trimmed(value / 1e6)} Mbit/s`;
  return `${trimmed(value / 1e3)} kbit/s`;
}

function trimmed(value) {
  return String(Number(value.toPrecision(3)));
}

/** A size that a reader typed: 1048576, 1e6, 2^20, 1,048,576. NaN for what is none. */
function parseItems(text) {
  const plain = text.trim().replace(/[\s_,']/g, '');
  const power = /^2\^(\d{1,2})$/.exec(plain);
  const count = power ? 2 ** Number(power[1]) : plain === '' ? NaN : Number(plain);
  return Number.isInteger(count) && count >= 1 ? count : NaN;
}

/** A number of at least zero that a reader typed; NaN for what is none. */
function parseAmount(text) {
  const amount = text.trim() === '' ? NaN : Number(text.trim().replace(',', '.'));
  return Number.isFinite(amount) && amount >= 0 ? amount : NaN;
}

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

/** An element of HTML. */
function html(name, attributes = {}, ...children) {
  return make(document.createElement(name), attributes, children);
}

/** An element of SVG. */
function svg(name, attributes = {}, ...children) {
  return make(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

/** Fills a <select>; keeps what was chosen if it is still there. */
function fill(select, options, preferred) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => html('option', { value }, text)));
  const values = options.map(([value]) => String(value));
  const wanted = [before, String(preferred)].find(value => values.includes(value));
  select.value = wanted ?? values[0] ?? '';
  select.disabled = options.length < 2;
}

/** Calls a function at each key in a field of a form, and when another choice is made in one of its lists. */
function onEdit(form, then) {
  form.addEventListener('input', event => {
    if (event.target.tagName !== 'SELECT') then(event);
  });
  form.addEventListener('change', event => {
    if (event.target.tagName === 'SELECT') then(event);
  });
  form.addEventListener('submit', event => event.preventDefault());
}

/** The different values, in their order. */
function distinct(values) {
  return [...new Set(values)];
}

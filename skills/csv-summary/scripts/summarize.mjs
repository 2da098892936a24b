// Prints one line of JSON per column of a CSV or TSV file: how full it is, and for numbers sum, mean, smallest and largest. Reads that
// file and nothing else, writes nothing.

import { readFileSync } from 'node:fs';

const SIZE_MAX = 50_000_000;
const DISTINCT_MAX = 10_000;

const options = { separator: null, decimal: '.' };
const names = [];
const given = process.argv.slice(2);
for (let at = 0; at < given.length; at += 1) {
  if (given[at] === '--separator') options.separator = given[(at += 1)] === '\\t' ? '\t' : given[at];
  else if (given[at] === '--decimal') options.decimal = given[(at += 1)];
  else names.push(given[at]);
}
if (names.length !== 1) fail('Usage: summarize.mjs FILE [--separator ";"] [--decimal ","]');

const text = readFileSync(names[0], 'utf8').replace(/^\uFEFF/, '');
if (text.length > SIZE_MAX) fail('The file is larger than 50 MB.');
const separator = options.separator ?? guessSeparator(text.slice(0, text.indexOf('\n') + 1 || undefined));
const [head, ...rows] = parse(text, separator);
if (head === undefined) fail('The file is empty.');

for (const [column, name] of head.entries()) {
  const values = rows.map((row) => (row[column] ?? '').trim());
  const filled = values.filter((value) => value !== '');
  const numbers = filled.map(toNumber).filter((value) => value !== null);
  const isNumeric = numbers.length > 0 && numbers.length >= filled.length * 0.9;
  const summary = {
    name: name.trim(),
    rows: rows.length,
    filled: filled.length,
    empty: values.length - filled.length,
    distinct: new Set(filled.slice(0, DISTINCT_MAX)).size,
    ...(isNumeric ? figures(numbers, filled.length) : {}),
  };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

function figures(numbers, filled) {
  let sum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const value of numbers) {
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const round = (value) => Number(value.toPrecision(12));
  const notNumbers = filled - numbers.length;
  return { sum: round(sum), mean: round(sum / numbers.length), min, max, ...(notNumbers > 0 ? { notNumbers } : {}) };
}

function toNumber(value) {
  const plain = options.decimal === ',' ? value.replaceAll('.', '').replace(',', '.') : value.replaceAll(/(?<=\d),(?=\d{3}\b)/g, '');
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : null;
}

function guessSeparator(line) {
  const count = (character) => line.split(character).length;
  return [',', ';', '\t', '|'].reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** After RFC 4180: quoted cells may hold separators, line breaks and doubled quotes. */
function parse(source, separatorUsed) {
  const found = [];
  let row = [];
  let cell = '';
  let quoted = false;
  const endRow = () => {
    row.push(cell);
    cell = '';
    if (row.length > 1 || row[0].trim() !== '') found.push(row);
    row = [];
  };
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (source[at + 1] === '"') cell += source[(at += 1)];
      else quoted = false;
    } else if (character === '"' && cell === '') quoted = true;
    else if (character === separatorUsed) {
      row.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  if (cell !== '' || row.length > 0) endRow();
  return found;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

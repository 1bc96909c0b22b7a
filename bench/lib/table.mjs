/**
 * One line of the result.
 * @typedef {object} Row
 * @property {string} measure the name of the measure, as `--only` takes it
 * @property {string} name what was measured
 * @property {string} unit of both figures
 * @property {number} figure the product's
 * @property {string} peer what it is compared with; empty when it is compared with nothing
 * @property {number | undefined} peerFigure
 * @property {number | undefined} ratio the product's figure by the peer's: the median of the rounds
 * @property {{ of: 'figure' | 'ratio' | 'difference', atLeast?: number, atMost?: number }} aim
 * @property {boolean} met
 */

const HEAD = ['measure', 'product', 'peer', 'ratio', 'aim', 'met'];

/**
 * Makes a row and judges it.
 * @param {Omit<Row, 'met'>} facts
 * @returns {Row}
 */
export function rowOf(facts) {
  const { figure, peerFigure, ratio, aim } = facts;
  const judged = { figure, ratio, difference: figure - (peerFigure ?? 0) }[aim.of];
  const met = judged >= (aim.atLeast ?? -Infinity) && judged <= (aim.atMost ?? Infinity);
  return { ...facts, met };
}

/** The rows as a Markdown table whose columns are padded. */
export function tableOf(rows) {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const show = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [show(lines[0]), show(widths.map((width) => '-'.repeat(width))), ...lines.slice(1).map(show)].join('\n');
}

function cellsOf({ name, unit, figure, peer, peerFigure, ratio, aim, met }) {
  return [
    name,
    `${short(figure)} ${unit}`,
    peerFigure === undefined ? '–' : `${short(peerFigure)} ${unit} (${peer})`,
    ratio === undefined ? '–' : ratio.toFixed(2),
    aimOf(aim, unit),
    met ? 'yes' : 'no',
  ];
}

function aimOf({ of, atLeast, atMost }, unit) {
  const limit = atLeast === undefined ? `≤ ${of === 'difference' ? '+' : ''}${atMost}` : `≥ ${atLeast}`;
  return of === 'ratio' ? `${limit} ×` : `${limit} ${unit}`;
}

/** Three significant digits, and whole numbers from 100 on. */
function short(value) {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

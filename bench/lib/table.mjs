/**
 * One line of the result.
 * @typedef {object} Row
 * @property {string} measure the name of the measure, as `--only` takes it
 * @property {string} name what was measured
 * @property {string} unit of both figures
 * @property {number} figure the product's
 * @property {string} peer what it is compared with; empty when it is compared with nothing
 * @property {number} [peerFigure]
 * @property {number} [ratio] the product's figure by the peer's: the median of the rounds
 * @property {number} [difference] the product's figure less the peer's, where that is what counts
 * @property {{ of: 'figure' | 'ratio' | 'difference', atLeast?: number, atMost?: number }} [aim] none for a row that
 *   only informs
 * @property {boolean} [met]
 */

const HEAD = ['measure', 'product', 'peer', 'compared', 'aim', 'met'];

/**
 * Makes a row and judges it.
 * @param {Omit<Row, 'met'>} facts
 * @returns {Row}
 */
export function rowOf(facts) {
  const { aim } = facts;
  if (aim === undefined) return facts;
  const judged = facts[aim.of];
  return { ...facts, met: judged >= (aim.atLeast ?? -Infinity) && judged <= (aim.atMost ?? Infinity) };
}

/** The rows as a Markdown table whose columns are padded. */
export function tableOf(rows) {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const show = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [show(lines[0]), show(widths.map((width) => '-'.repeat(width))), ...lines.slice(1).map(show)].join('\n');
}

function cellsOf({ name, unit, figure, peer, peerFigure, ratio, difference, aim, met }) {
  return [
    name,
    `${short(figure)} ${unit}`,
    peerFigure === undefined ? '–' : `${short(peerFigure)} ${unit} (${peer})`,
    comparisonOf(ratio, difference, unit),
    aim === undefined ? '–' : aimOf(aim, unit),
    met === undefined ? '–' : met ? 'yes' : 'no',
  ];
}

function comparisonOf(ratio, difference, unit) {
  if (difference !== undefined) return `${difference < 0 ? '' : '+'}${short(difference)} ${unit}`;
  return ratio === undefined ? '–' : `${ratio.toFixed(2)} ×`;
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

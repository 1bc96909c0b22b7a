import { labDistance, toLab, type Rgb } from './lab.js';

export interface ColourName {
  readonly en: string;
  readonly zh: string;
}

type Row = readonly [en: string, zh: string, rgb: Rgb];

const NAMES: readonly Row[] = [
  ['black', '黑色', [0, 0, 0]],
  ['charcoal', '炭灰', [48, 48, 54]],
  ['dark grey', '深灰', [85, 85, 85]],
  ['grey', '灰色', [128, 128, 128]],
  ['silver', '银灰', [185, 185, 187]],
  ['light grey', '浅灰', [220, 220, 222]],
  ['white', '白色', [255, 255, 255]],
  ['ivory', '象牙白', [255, 250, 236]],
  ['cream', '奶油色', [250, 235, 200]],
  ['beige', '米色', [225, 205, 170]],
  ['tan', '棕褐', [200, 165, 120]],
  ['brown', '棕色', [130, 80, 40]],
  ['dark brown', '深棕', [70, 42, 25]],
  ['maroon', '栗红', [110, 15, 30]],
  ['dark red', '深红', [165, 25, 30]],
  ['red', '红色', [225, 30, 35]],
  ['coral', '珊瑚色', [250, 125, 105]],
  ['salmon', '鲑红', [245, 170, 150]],
  ['pink', '粉色', [250, 180, 200]],
  ['hot pink', '玫红', [240, 60, 140]],
  ['magenta', '洋红', [210, 20, 180]],
  ['plum', '梅紫', [130, 50, 110]],
  ['purple', '紫色', [115, 40, 165]],
  ['lavender', '淡紫', [200, 185, 235]],
  ['indigo', '靛蓝', [60, 30, 125]],
  ['navy', '藏青', [20, 30, 85]],
  ['blue', '蓝色', [25, 75, 215]],
  ['steel blue', '钢蓝', [75, 125, 175]],
  ['sky blue', '天蓝', [120, 190, 240]],
  ['pale blue', '浅蓝', [195, 225, 245]],
  ['cyan', '青色', [20, 210, 225]],
  ['turquoise', '绿松石色', [60, 200, 185]],
  ['teal', '蓝绿', [15, 115, 115]],
  ['dark green', '深绿', [15, 75, 35]],
  ['green', '绿色', [35, 150, 60]],
  ['lime', '黄绿', [155, 215, 40]],
  ['light green', '浅绿', [165, 225, 165]],
  ['olive', '橄榄绿', [115, 115, 35]],
  ['khaki', '卡其色', [190, 180, 110]],
  ['yellow', '黄色', [250, 230, 50]],
  ['amber', '琥珀色', [240, 195, 90]],
  ['gold', '金色', [215, 165, 50]],
  ['orange', '橙色', [245, 140, 30]],
  ['burnt orange', '焦橙', [195, 90, 20]],
];

const KNOWN = NAMES.map(([en, zh, rgb]) => ({ name: { en, zh }, lab: toLab(rgb) }));

/** The common name of the colour, by what an eye finds most alike. */
export function nameOfColour(rgb: Rgb): ColourName {
  const lab = toLab(rgb);
  let best = { name: { en: 'black', zh: '黑色' }, distance: Infinity };
  for (const { name, lab: known } of KNOWN) {
    const distance = labDistance(lab, known);
    if (distance < best.distance) best = { name, distance };
  }
  return best.name;
}

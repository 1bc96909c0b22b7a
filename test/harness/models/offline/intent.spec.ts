import { intentOf } from '../../../../src/harness/models/offline/intent.js';
import { nearestRatio, ratioNamedIn } from '../../../../src/harness/models/offline/aspect-ratio.js';

describe('intentOf', () => {
  it.each([
    ['What is in this picture?', 'reply'],
    ['分析图片', 'reply'],
    ['How do I remove the background?', 'reply'],
    ['这张图里有什么？', 'reply'],
    ['Remove the barcode', 'edit'],
    ['Please make it brighter', 'edit'],
    ['去掉条形码', 'edit'],
    ['把背景换成蓝色', 'edit'],
    ['去掉条形码，换成复古杂志风格', 'edit'],
    ['Change it to a watercolor style', 'edit'],
    ['Restyle it in pixel style', 'edit'],
    ['去掉条形码，换个封面风格', 'clarify'],
    ['Change the style', 'clarify'],
    ['Convert it to another style', 'clarify'],
    ['Draw a new poster from this', 'generate'],
    ['Create an image of a cup', 'generate'],
    ['画一只猫', 'generate'],
    ['生成一张海报', 'generate'],
  ])('takes %s as %s', (text, intent) => {
    expect(intentOf(text, true)).toBe(intent);
  });

  it('edits nothing where there is no picture', () => {
    expect(intentOf('Remove the barcode', false)).toBe('reply');
    expect(intentOf('Draw a picture of a barcode', false)).toBe('generate');
  });
});

describe('aspect ratio', () => {
  it.each([
    [600, 860, '2:3'],
    [1536, 2048, '3:4'],
    [1920, 1080, '16:9'],
    [1000, 1010, '1:1'],
    [3440, 1440, '21:9'],
  ])('of %d × %d is nearest to %s', (width, height, ratio) => {
    expect(nearestRatio(width, height)).toBe(ratio);
  });

  it.each([
    ['make it 16:9', '16:9'],
    ['改成 9：16 的竖版', '9:16'],
    ['竖版，复古电影风格', '3:4'],
    ['a landscape poster', '4:3'],
    ['a square icon', '1:1'],
    ['remove it', undefined],
  ])('named in %s is %s', (text, ratio) => {
    expect(ratioNamedIn(text)).toBe(ratio);
  });
});

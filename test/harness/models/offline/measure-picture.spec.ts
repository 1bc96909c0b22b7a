import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { measurePicture } from '../../../../src/harness/models/offline/measure-picture.js';
import { nameOfColour } from '../../../../src/harness/models/offline/colour-names.js';
import { bands, modelPicture } from './picture-part.js';

const receipt = readFileSync('config/samples/receipt.png');
const measure = async (bytes: Uint8Array) => measurePicture(await modelPicture(bytes));

describe('measurePicture', () => {
  it('finds the colours and their shares, the largest first', async () => {
    const { colours } = await measure(await bands(['#ffffff', 50], ['#0f6b6b', 30], ['#e11e23', 20]));
    expect(colours.map(({ hex, name, share }) => [hex, name.en, name.zh, share])).toEqual([
      ['#ffffff', 'white', '白色', 0.5],
      ['#0f6b6b', 'teal', '蓝绿', 0.3],
      ['#e11e23', 'red', '红色', 0.2],
    ]);
  });

  it('keeps five colours and leaves out specks', async () => {
    const many = ['#000000', '#ffffff', '#e11e23', '#194bd7', '#fae632', '#23963c', '#f5b4c8'];
    expect((await measure(await bands(...many.map((colour) => [colour, 20] as const)))).colours).toHaveLength(5);
    const speck = await measure(await bands(['#ffffff', 199], ['#e11e23', 1]));
    expect(speck.colours.map(({ name }) => name.en)).toEqual(['white']);
  });

  it('measures how bright a picture is and how far its light spreads', async () => {
    const black = await measure(await bands(['#000000', 100]));
    expect([black.brightness, black.contrast]).toEqual([0, 0]);
    const white = await measure(await bands(['#ffffff', 100]));
    expect(white.brightness).toBeCloseTo(1, 5);
    expect(white.contrast).toBeCloseTo(0, 5);
    const halves = await measure(await bands(['#000000', 50], ['#ffffff', 50]));
    expect(halves.brightness).toBeCloseTo(0.5, 5);
    expect(halves.contrast).toBeCloseTo(0.5, 5);
  });

  it('measures the transparent part and leaves it out of colours and light', async () => {
    const facts = await measure(await bands(['none', 40], ['#194bd7', 60]));
    expect(facts.transparency).toBeCloseTo(0.4, 5);
    expect(facts.colours.map(({ name, share }) => [name.en, share])).toEqual([['blue', 1]]);
    expect(facts.brightness).toBeLessThan(0.4);
    expect((await measure(await bands(['none', 10]))).colours).toEqual([]);
  });

  it('tells a blurred picture from a sharp one', async () => {
    const sharpness = async (sigma: number) =>
      (await measure(await sharp(receipt).blur(sigma).png().toBuffer())).sharpness;
    expect((await measure(receipt)).sharpness).toBeGreaterThan(3);
    expect(await sharpness(1)).toBeLessThan(3);
    expect(await sharpness(3)).toBeLessThan(1);
  });

  it('measures grey, CMYK and turned pictures', async () => {
    const grey = await sharp(receipt).greyscale().jpeg().toBuffer();
    const cmyk = await sharp(receipt).toColourspace('cmyk').jpeg().toBuffer();
    const turned = await sharp(receipt).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    for (const bytes of [grey, cmyk, turned]) {
      const facts = await measure(bytes);
      expect(facts.colours[0]?.name.en).toBe('white');
      expect(facts.brightness).toBeGreaterThan(0.7);
    }
  });

  it('refuses bytes that are no picture', async () => {
    const junk = { mimeType: 'image/png', bytes: Buffer.from('no picture'), sha256: '', width: 1, height: 1 };
    await expect(measurePicture(junk)).rejects.toThrow();
  });
});

describe('nameOfColour', () => {
  it.each([
    [[1, 2, 3], 'black'],
    [[250, 250, 250], 'white'],
    [[10, 10, 200], 'blue'],
    [[250, 128, 0], 'orange'],
    [[101, 67, 33], 'brown'],
    [[0, 128, 128], 'teal'],
    [[128, 0, 128], 'purple'],
  ] as const)('calls %j %s', (rgb, name) => {
    expect(nameOfColour(rgb).en).toBe(name);
  });
});

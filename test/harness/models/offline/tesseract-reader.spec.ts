import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { TesseractReader } from '../../../../src/harness/models/offline/tesseract-reader.js';

// Reading is the slow part of this ring: a busy machine takes many times as long.
jest.setTimeout(120_000);

const require = createRequire(import.meta.url);
const open = new AbortController().signal;
const receipt = readFileSync('config/samples/receipt.png');
const invoice = readFileSync('test/harness/models/offline/invoice-zh.png');

describe('TesseractReader', () => {
  const reader = new TesseractReader({ limitMs: 60_000 });
  afterAll(() => reader.close());

  it('reads the sample receipt', async () => {
    const reading = await reader.read(receipt, open);
    expect(reading).toMatchObject({
      outcome: 'read',
      lines: [
        'CORNER CAFE',
        '14 Harbour Street, Oslo',
        'Receipt 004217 Table 6',
        '2026-08-17 10:42',
        '2 x Flat white 7.00',
        '1 x Almond croissant 3.40',
        '1 x Lemon tart 4.20',
        '1 x Sparkling water 2.10',
        'VAT 15% 2.18',
        'TOTAL EUR 16.70',
        'Thank you, see you soon!',
        '7 038010 004217',
      ],
    });
    expect(reading.outcome === 'read' && reading.confidence).toBeGreaterThan(0.9);
  });

  it('reads Chinese', async () => {
    expect(await reader.read(invoice, open)).toMatchObject({
      lines: ['发票金额：128.50元', '购买方：上海海风咖啡店', '日期：2026年8月17日'],
    });
  });

  it('finds no text where there is none', async () => {
    const plain = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#0f6b6b' } })
      .png()
      .toBuffer();
    expect(await reader.read(plain, open)).toEqual({ outcome: 'none' });
  });

  it('survives bytes that are no picture and reads on', async () => {
    expect(await reader.read(Buffer.from('no picture'), open)).toEqual({ outcome: 'failed' });
    expect(await reader.read(invoice, open)).toMatchObject({ outcome: 'read' });
  });

  it('stops at once with the signal, waiting or reading, and reads on for the others', async () => {
    const abort = new AbortController();
    const stopped = Promise.allSettled([reader.read(receipt, abort.signal), reader.read(receipt, abort.signal)]);
    const other = reader.read(invoice, open);
    setTimeout(() => abort.abort(new Error('cancelled')), 20);
    for (const result of await stopped) {
      expect(result).toMatchObject({ status: 'rejected', reason: new Error('cancelled') });
    }
    expect(await other).toMatchObject({ outcome: 'read' });
  });

  it('says when it took too long', async () => {
    const hasty = new TesseractReader({ limitMs: 1 });
    expect(await hasty.read(receipt, open)).toEqual({ outcome: 'too_slow', limitMs: 1 });
    await hasty.close();
  });

  it('names the optional packages that are not installed', async () => {
    const resolve = (name: string): string => {
      if (name.startsWith('@tesseract.js-data/')) throw new Error('not found');
      return require.resolve(`${name}/package.json`);
    };
    expect(await new TesseractReader({ resolve }).read(receipt, open)).toEqual({
      outcome: 'not_installed',
      packages: ['@tesseract.js-data/eng', '@tesseract.js-data/chi_sim'],
    });
  });
});

import fc from 'fast-check';
import type { ImagePart, ImageUrlPart } from '../../src/events/parts.js';
import { fillModelInputText, renderModelInputText, renderResultInstructions } from '../../src/vision/vision-prompt.js';

const linked = (index: number, resourceId: string): ImageUrlPart => ({
  kind: 'image_url',
  index,
  resourceId,
  url: 'https://cdn.example.com/a.png',
});
const stored = (index: number, resourceId: string): ImagePart => ({
  kind: 'image',
  index,
  resourceId,
  sha256: 'a'.repeat(64),
  mimeType: 'image/png',
  width: 1,
  height: 1,
  bytes: 1,
});

const runs = process.env['BRIDLE_TEST_FULL'] === undefined ? 100 : 1000;

describe('renderModelInputText', () => {
  it('is the text, a line for each picture and the statement, in Chinese', () => {
    expect(renderModelInputText('去掉条形码，换个封面风格', [linked(0, 'cover-v1'), stored(1, 'img-2')], 'zh')).toBe(
      '去掉条形码，换个封面风格\n图片 0：{{resource:cover-v1}}\n图片 1：{{resource:img-2}}\n图片已作为原生多模态内容提供。',
    );
  });

  it('and in English, without a blank line when there is no text', () => {
    expect(renderModelInputText('', [linked(0, 'cover-v1')], 'en')).toBe(
      'Image 0: {{resource:cover-v1}}\nThe images are supplied as native multimodal content.',
    );
  });

  it('is the text alone without pictures', () => {
    expect(renderModelInputText('hello', [], 'en')).toBe('hello');
  });
});

describe('fillModelInputText', () => {
  const linkOf = (resourceId: string): string => `https://bridle.example.com/blobs/${resourceId}?sig=fresh`;

  it('puts a fresh link in each place', () => {
    const text = renderModelInputText('Look', [linked(0, 'cover-v1')], 'en');
    expect(fillModelInputText(text, linkOf)).toBe(
      'Look\nImage 0: https://bridle.example.com/blobs/cover-v1?sig=fresh\nThe images are supplied as native multimodal content.',
    );
  });

  it('gives back what the user wrote, whatever it looks like', () => {
    const pieces = fc.constantFrom(
      '{{resource:',
      '{{=resource:',
      'cover-v1',
      '}}',
      '{',
      '=',
      '{{',
      '$1',
      '\n',
      '图',
      'a',
    );
    fc.assert(
      fc.property(
        fc.array(pieces).map((list) => list.join('')),
        (text) => {
          expect(fillModelInputText(renderModelInputText(text, [], 'en'), linkOf)).toBe(text);
        },
      ),
      { numRuns: runs },
    );
  });

  it('finds the id again, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (resourceId) => {
        const text = renderModelInputText('', [linked(0, resourceId)], 'en');
        expect(fillModelInputText(text, (id) => `<${id}>`)).toContain(`Image 0: <${resourceId}>\n`);
      }),
      { numRuns: runs },
    );
  });
});

describe('renderResultInstructions', () => {
  it('holds the schema itself', () => {
    expect(renderResultInstructions({ type: 'object' }, 'en')).toMatch(/one JSON value.*\n\{"type":"object"\}$/s);
    expect(renderResultInstructions({ type: 'object' }, 'zh')).toContain('{"type":"object"}');
  });
});

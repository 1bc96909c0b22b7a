import { planAttachments, type AttachmentPlan } from '../../src/vision/attachment-plan.js';
import type { PreparedPicture, StoredPicture } from '../../src/vision/pictures.types.js';
import type { ResourceRow } from '../../src/vision/resource-rows.js';

const picture = (sha256: string): StoredPicture => ({ sha256, mimeType: 'image/png', width: 2, height: 1, bytes: 70 });
const bytes = (sha256: string, resourceId?: string): PreparedPicture => ({
  kind: 'bytes',
  resourceId,
  sourceSha256: `source-${sha256}`,
  picture: picture(sha256),
  settle: () => undefined,
});
const link = (url: string, resourceId?: string): PreparedPicture => ({ kind: 'url', resourceId, url: new URL(url) });
const plan = (prepared: readonly PreparedPicture[], stored: readonly ResourceRow[] = []): AttachmentPlan =>
  planAttachments({ stored, prepared, seal: (url, id) => `sealed ${id} ${url.href}`, nowMs: 5 });
const ids = (made: AttachmentPlan): string[] => made.parts.map((part) => part.resourceId);
const refused = (reason: string): Error => expect.objectContaining({ reason }) as Error;

describe('planAttachments', () => {
  it('makes a row and a part of each picture, in order', () => {
    expect(plan([bytes('a'), link('https://cdn.example.com/b.png?sig=1', 'cover-v1')])).toEqual({
      parts: [
        { kind: 'image', index: 0, resourceId: 'img-1', ...picture('a') },
        { kind: 'image_url', index: 1, resourceId: 'cover-v1', url: 'https://cdn.example.com/b.png' },
      ],
      inserts: [
        {
          resourceId: 'img-1',
          kind: 'base64',
          sourceUrl: null,
          sealedUrl: null,
          sourceSha256: 'source-a',
          picture: picture('a'),
          createdAt: 5,
        },
        {
          resourceId: 'cover-v1',
          kind: 'url',
          sourceUrl: 'https://cdn.example.com/b.png',
          sealedUrl: 'sealed cover-v1 https://cdn.example.com/b.png?sig=1',
          sourceSha256: null,
          picture: null,
          createdAt: 5,
        },
      ],
      resealed: [],
    });
  });

  it('finds a free id for each picture without one, beside stored and named ones', () => {
    const first = plan([bytes('a'), bytes('b')]);
    expect(ids(first)).toEqual(['img-1', 'img-2']);
    const second = plan([bytes('a'), bytes('c', 'img-1-2'), bytes('d', 'img-3')], first.inserts);
    expect(ids(second)).toEqual(['img-1-3', 'img-1-2', 'img-3']);
    expect(ids(plan([bytes('a'), bytes('b', 'img-1')]))).toEqual(['img-1-2', 'img-1']);
  });

  it('takes a known id with the same bytes for the same picture', () => {
    const { inserts } = plan([bytes('a', 'cover')]);
    const again = plan([bytes('a', 'cover'), { kind: 'stored', resourceId: 'cover' }], inserts);
    expect([ids(again), again.inserts]).toEqual([['cover', 'cover'], []]);
  });

  it('refuses a known id with another picture, in the session and in the message', () => {
    const { inserts } = plan([bytes('a', 'cover'), link('https://cdn.example.com/a.png?x=1', 'linked')]);
    expect(() => plan([bytes('b', 'cover')], inserts)).toThrow(refused('RESOURCE_CONFLICT'));
    expect(() => plan([link('https://cdn.example.com/a.png', 'cover')], inserts)).toThrow(refused('RESOURCE_CONFLICT'));
    expect(() => plan([link('https://cdn.example.com/b.png', 'linked')], inserts)).toThrow(
      refused('RESOURCE_CONFLICT'),
    );
    expect(() => plan([bytes('a', 'linked')], inserts)).toThrow(refused('RESOURCE_CONFLICT'));
    expect(() => plan([bytes('a', 'x'), bytes('b', 'x')])).toThrow(refused('RESOURCE_CONFLICT'));
  });

  it('keeps the newer signature of a URL that was not fetched, and needs none of one that was', () => {
    const { inserts } = plan([link('https://cdn.example.com/a.png?sig=1', 'linked')]);
    const [row] = inserts;
    const again = plan([link('https://cdn.example.com/a.png?sig=2', 'linked')], inserts);
    expect(again.resealed).toEqual([
      { resourceId: 'linked', sealedUrl: 'sealed linked https://cdn.example.com/a.png?sig=2' },
    ]);
    const fetched = plan(
      [link('https://cdn.example.com/a.png?sig=3', 'linked')],
      [{ ...row!, sealedUrl: null, sourceSha256: 'source-a', picture: picture('a') }],
    );
    expect(fetched).toEqual({
      parts: [{ kind: 'image', index: 0, resourceId: 'linked', ...picture('a') }],
      inserts: [],
      resealed: [],
    });
  });

  it('refuses an id that the session does not have', () => {
    expect(() => plan([{ kind: 'stored', resourceId: 'none' }])).toThrow(refused('RESOURCE_NOT_FOUND'));
  });
});

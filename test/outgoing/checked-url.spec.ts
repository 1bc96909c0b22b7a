import { checkedUrl, withoutQuery } from '../../src/outgoing/checked-url.js';

describe('checkedUrl', () => {
  it('accepts http and https and leaves the fragment out', () => {
    expect(checkedUrl('https://cdn.example.com/a.png?sig=1#top').href).toBe('https://cdn.example.com/a.png?sig=1');
  });

  it.each([
    ['file:///etc/passwd', 'got file:'],
    ['gs://b/x', 'got gs:'],
    ['data:image/png;base64,AAAA', 'got data:'],
    ['http://u:p@host/', 'no user name'],
    ['http://u@host/', 'no user name'],
    ['/a.png', 'not a URL'],
    ['http://', 'not a URL'],
    ['', 'not a URL'],
    [`http://host/${'a'.repeat(8192)}`, 'at most 8192'],
  ])('refuses %s', (url, problem) => {
    expect(() => checkedUrl(url)).toThrow(expect.objectContaining({ kind: 'bad_url' }));
    expect(() => checkedUrl(url)).toThrow(problem);
  });

  it('spells every form of an IPv4 host the same way', () => {
    expect(checkedUrl('http://2130706433/').hostname).toBe('127.0.0.1');
    expect(checkedUrl('http://0x7f.1/').hostname).toBe('127.0.0.1');
    expect(checkedUrl('http://017700000001/').hostname).toBe('127.0.0.1');
  });
});

describe('withoutQuery', () => {
  it('takes the signature away', () => {
    expect(withoutQuery(new URL('https://cdn.example.com/a.png?X-Signature=secret'))).toBe(
      'https://cdn.example.com/a.png',
    );
  });
});

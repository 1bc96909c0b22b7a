/**
 * A request's URL in a form that the router can decode, with the meaning that lenient servers give it: a percent
 * sign that begins no escape stands for itself, and escaped bytes that are not UTF-8 for U+FFFD.
 */
export function adkUrl(url: string): string {
  // `/v1` refuses such paths.
  if (url.startsWith('/v1/')) return url;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (!path.includes('%')) return url;
  const literal = path.replace(/%(?![0-9A-Fa-f]{2})/g, '%25');
  const decodable = literal.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => {
    try {
      decodeURIComponent(escapes);
      return escapes;
    } catch {
      const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex');
      return encodeURIComponent(bytes.toString('utf8'));
    }
  });
  return end < 0 ? decodable : decodable + url.slice(end);
}

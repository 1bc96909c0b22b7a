const HEADER_LENGTH = 128;
const TAG_LENGTH = 12;

/** Descriptions of profiles that mean sRGB; `c2` is the smallest one in wide use. */
const SRGB_NAMES = /srgb|^c2$/i;

/** True when the ICC profile says that the pixels are sRGB, so that showing them needs no conversion. */
export function isSrgbProfile(profile: Buffer): boolean {
  return profile.toString('latin1', 16, 20) === 'RGB ' && SRGB_NAMES.test(descriptionOf(profile));
}

/** The profile's name: ASCII in version 2, the first UTF-16 text in version 4. */
function descriptionOf(profile: Buffer): string {
  try {
    const count = Math.min(profile.readUInt32BE(HEADER_LENGTH), 100);
    for (let index = 0; index < count; index += 1) {
      const entry = HEADER_LENGTH + 4 + index * TAG_LENGTH;
      if (profile.toString('latin1', entry, entry + 4) !== 'desc') continue;
      const at = profile.readUInt32BE(entry + 4);
      return textOfTag(profile.subarray(at, at + profile.readUInt32BE(entry + 8)));
    }
  } catch {
    // a broken profile has no name and is converted like any other
  }
  return '';
}

function textOfTag(tag: Buffer): string {
  if (tag.toString('latin1', 0, 4) === 'desc') {
    return tag.toString('latin1', 12, 12 + tag.readUInt32BE(8)).replace(/\0.*$/s, '');
  }
  const length = tag.readUInt32BE(20);
  const start = tag.readUInt32BE(24);
  return Buffer.from(tag.subarray(start, start + length - (length % 2)))
    .swap16()
    .toString('utf16le');
}

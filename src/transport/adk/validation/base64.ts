/** The bytes of a base64 text, or what is wrong with it. */
export type Decoded = { readonly bytes: Buffer } | { readonly error: string };

const COMMON = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const STANDARD = valuesOf(`${COMMON}+/`);
const URL_SAFE = valuesOf(`${COMMON}-_`);
const PAD = 0x3d;

interface BadByte {
  readonly byte: number;
  readonly offset: number;
}

/**
 * Decodes base64 as strictly as the peer does: one alphabet in a value, padding optional but never too much, no
 * white space, no stray bits. Faults are in the words of its decoder; offsets count UTF-8 bytes.
 */
export function decodeBase64(text: string): Decoded {
  const input = Buffer.from(text, 'utf8');
  const first = faultOf(input, URL_SAFE);
  if (first === undefined) return { bytes: Buffer.from(text, 'base64url') };
  // Only a symbol of the other alphabet makes the decoder try that one.
  const isStandard = typeof first !== 'string' && (first.byte === 0x2b || first.byte === 0x2f);
  const fault = isStandard ? faultOf(input, STANDARD) : first;
  if (fault === undefined) return { bytes: Buffer.from(text, 'base64') };
  return { error: typeof fault === 'string' ? fault : `Invalid symbol ${fault.byte}, offset ${fault.offset}.` };
}

/** The six bits of each byte, -1 for what is no symbol. */
function valuesOf(alphabet: string): Int8Array {
  const values = new Int8Array(256).fill(-1);
  [...alphabet].forEach((symbol, value) => (values[symbol.charCodeAt(0)] = value));
  return values;
}

function faultOf(input: Buffer, values: Int8Array): BadByte | string | undefined {
  const value = (byte: number): number => values[byte] as number;
  const bad = (offset: number): BadByte => ({ byte: input[offset] as number, offset });
  const rest = input.length % 4;
  const last = input.length - 1;
  // A stray byte at the very end, such as a line feed, is found first.
  if (rest === 1 && input[last] !== PAD && value(input[last] as number) < 0) return bad(last);
  const tail = Math.max(0, input.length - (rest === 0 ? 4 : rest));
  for (let offset = 0; offset < tail; offset++) if (value(input[offset] as number) < 0) return bad(offset);
  return tailFault(input, tail, value, bad);
}

/** Fault of the last quad, which may be short or padded. */
function tailFault(
  input: Buffer,
  tail: number,
  value: (byte: number) => number,
  bad: (offset: number) => BadByte,
): BadByte | string | undefined {
  let symbols = 0;
  let padding: number | undefined;
  for (let offset = tail; offset < input.length; offset++) {
    const byte = input[offset] as number;
    if (byte === PAD) {
      if (offset - tail < 2) return bad(offset);
      padding ??= offset;
      continue;
    }
    if (padding !== undefined) return bad(padding);
    if (value(byte) < 0) return bad(offset);
    symbols++;
  }
  if (input.length === 0) return undefined;
  if (symbols < 2) return `Invalid input length: ${tail + symbols}`;
  return strayBits(input, tail + symbols - 1, symbols, value);
}

function strayBits(input: Buffer, at: number, symbols: number, value: (byte: number) => number): string | undefined {
  const symbol = input[at] as number;
  const bits = value(symbol);
  const unused = (symbols * 6) % 8;
  if ((bits & ((1 << unused) - 1)) === 0) return undefined;
  const hex = symbol.toString(16).padStart(2, '0');
  const binary = bits.toString(2).padStart(8, '0');
  return `Invalid last symbol 0x${hex} ('${String.fromCharCode(symbol)}') at offset ${at}, decoded as 0b${binary}.`;
}

/** URL-safe base64 with padding: how bytes go out. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('base64url');
  return text + '='.repeat((4 - (text.length % 4)) % 4);
}

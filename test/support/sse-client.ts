/** One frame of a stream of server-sent events. */
export interface SseFrame {
  /** undefined when the frame has no `id` line. */
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The joined `data` lines. */
  readonly data: string;
}

export interface SseRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly lastEventId?: string | number;
  /** Ends reading: the connection closes. */
  readonly signal?: AbortSignal;
}

/** A stream that answered 200 and is being read. */
export interface SseConnection {
  readonly response: Response;
  /** Ends when the server ends the response; throws when the connection breaks or the signal aborts. */
  readonly frames: AsyncIterable<SseFrame>;
}

/**
 * Opens a stream of server-sent events by fetch.
 * @throws Error with status and body when the answer is no event stream
 */
export async function openSse(url: string, request: SseRequest = {}): Promise<SseConnection> {
  const hasBody = request.body !== undefined;
  const response = await fetch(url, {
    method: request.method ?? (hasBody ? 'POST' : 'GET'),
    headers: {
      accept: 'text/event-stream',
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(request.lastEventId !== undefined && { 'last-event-id': String(request.lastEventId) }),
      ...request.headers,
    },
    ...(hasBody && { body: JSON.stringify(request.body) }),
    ...(request.signal && { signal: request.signal }),
  });
  const type = response.headers.get('content-type') ?? '';
  if (response.status !== 200 || !type.startsWith('text/event-stream') || response.body === null) {
    throw new Error(`expected an event stream, got ${response.status} ${type}: ${await response.text()}`);
  }
  return { response, frames: readFrames(response.body) };
}

/**
 * Reads a stream to its end, or to the first frame that `until` accepts (which is included; the connection closes).
 */
export async function readSse(
  url: string,
  request: SseRequest = {},
  until: (frame: SseFrame) => boolean = () => false,
): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const frame of (await openSse(url, request)).frames) {
    frames.push(frame);
    if (until(frame)) break;
  }
  return frames;
}

/** The frames of a text of server-sent events; blocks without data (comments, `retry`) are no frames. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<SseFrame> {
  let buffer = '';
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    buffer += decoder.decode(bytes, { stream: true });
    const blocks = buffer.split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = toFrame(block);
      if (frame) yield frame;
    }
  }
}

function toFrame(block: string): SseFrame | undefined {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  const valuesOf = (field: string): string[] =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  const data = valuesOf('data');
  return data.length === 0
    ? undefined
    : { id: valuesOf('id').at(-1), event: valuesOf('event').at(-1), data: data.join('\n') };
}

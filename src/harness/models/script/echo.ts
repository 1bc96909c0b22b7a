import type { ChatMessage, ChatRequest } from '../../ports/chat-model.port.js';

function plainMessage(message: ChatMessage): unknown {
  if (message.role !== 'user') return message;
  const parts = message.parts.map((part) =>
    part.kind === 'text'
      ? part
      : {
          kind: part.kind,
          index: part.index,
          sha256: part.sha256,
          mimeType: part.mimeType,
          width: part.width,
          height: part.height,
        },
  );
  return { ...message, parts };
}

/**
 * What a model received, as JSON text: an array of one object `{system, messages, tools, images}`. `tools` are the
 * names; `images` are the SHA-256 digests of the pictures as loaded for a model, in the order of the messages.
 */
export async function echoOf(request: ChatRequest): Promise<string> {
  const pictures = request.messages.flatMap((message) =>
    message.role === 'user' ? message.parts.filter((part) => part.kind === 'image') : [],
  );
  const images: string[] = [];
  for (const picture of pictures) images.push((await picture.load()).sha256);
  const received = {
    system: request.system,
    messages: request.messages.map(plainMessage),
    tools: request.tools.map((tool) => tool.name),
    images,
  };
  return JSON.stringify([received]);
}

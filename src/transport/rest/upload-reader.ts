import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { isMultipart } from '../http/body-reader.interceptor.js';

const RAW_TYPE = /^(image\/[\w.+-]+|application\/octet-stream)\s*(;|$)/i;

/** Reads an uploaded file: a form with one part `file`, or the bytes as they are. */
@Injectable()
export class UploadReader {
  constructor(private readonly config: Config) {}

  /**
   * @throws AppError `UNSUPPORTED_MEDIA_TYPE`, `INVALID_BODY`, `IMAGE_TOO_LARGE`, `REQUEST_TIMEOUT`
   */
  async read(request: FastifyRequest): Promise<Buffer> {
    if (isMultipart(request)) return this.readForm(request);
    if (!RAW_TYPE.test(request.headers['content-type'] ?? '')) {
      throw new AppError(
        'UNSUPPORTED_MEDIA_TYPE',
        'send multipart/form-data with a part file, or the bytes as image/* or application/octet-stream',
      );
    }
    const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const { maxImageBytes } = this.config.vision;
    if (bytes.length > maxImageBytes) throw tooLarge(maxImageBytes);
    return bytes;
  }

  private async readForm(request: FastifyRequest): Promise<Buffer> {
    const { bodyTimeoutMs } = this.config.http;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new AppError('REQUEST_TIMEOUT', `the form did not arrive within ${bodyTimeoutMs} ms`)),
        bodyTimeoutMs,
      );
    });
    try {
      return await Promise.race([this.readFile(request), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async readFile(request: FastifyRequest): Promise<Buffer> {
    try {
      let bytes: Buffer | undefined;
      for await (const part of request.files()) {
        if (part.fieldname !== 'file') break;
        bytes = await Promise.race([part.toBuffer(), this.limitOf(part.file)]);
      }
      if (bytes === undefined) throw new AppError('INVALID_BODY', 'the form needs a part named file');
      return bytes;
    } catch (error) {
      throw this.toUploadError(error);
    }
  }

  /** Rejects as soon as the file passes its limit; the parser itself tells only after it has read the rest. */
  private limitOf(file: Readable): Promise<never> {
    return new Promise((_, reject) => file.once('limit', () => reject(tooLarge(this.config.vision.maxImageBytes))));
  }

  private toUploadError(error: unknown): AppError {
    if (error instanceof AppError) return error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(this.config.vision.maxImageBytes);
    if (code === 'FST_FILES_LIMIT') return new AppError('INVALID_BODY', 'the form must have one file');
    return new AppError('INVALID_BODY', 'the form is malformed', { cause: error });
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('IMAGE_TOO_LARGE', `a picture may have at most ${maxBytes} bytes`);
}

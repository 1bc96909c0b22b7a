import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import { Config } from '../../config/config.js';
import { Logger } from '../../observability/logger.js';
import { trustedDispatcher } from '../../outgoing/trusted-dispatcher.js';
import type { ChatModel } from '../ports/chat-model.port.js';
import { AiSdkModel } from './ai-sdk/ai-sdk-model.js';
import { anthropic } from './ai-sdk/anthropic.js';
import { google } from './ai-sdk/google.js';
import { LoggedModel } from './logged-model.js';
import { OfflineModel } from './offline/offline-model.js';
import { TesseractReader } from './offline/tesseract-reader.js';
import { OpenAiCompatibleModel } from './openai-compatible.js';
import type { ProviderLink } from './provider/provider-call.js';
import { providerAccess, type ProviderAccess } from './providers.js';
import { ScriptModel } from './script/script-model.js';

/** The models of this server, by name. */
@Injectable()
export class ModelRegistry implements OnApplicationShutdown {
  /** The name of the model that agents without one of their own use. */
  readonly defaultName: string;
  private readonly access: ProviderAccess | undefined;
  private readonly dispatcher: Dispatcher;
  private readonly offline = new OfflineModel(new TesseractReader());
  private readonly models = new Map<string, ChatModel>();

  /** @throws ConfigError when the configured provider lacks its key or the name of a model */
  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    const { provider } = config.model;
    this.models.set('offline', this.offline);
    this.models.set('script', new ScriptModel({ testSteps: config.harness.scriptModel.enabled }));
    this.access = providerAccess(config.model);
    this.dispatcher = trustedDispatcher(config.proxy);
    this.defaultName = this.access?.model ?? (provider === 'script' ? 'script' : 'offline');
  }

  /**
   * The model of that name: `script`, `offline`, or one of the configured provider.
   * @param name undefined = the default model; so is every name where no provider is configured
   */
  modelFor(name: string | undefined): ChatModel {
    const wanted = name ?? this.defaultName;
    return this.models.get(wanted) ?? (this.access ? this.addOf(this.access, wanted) : this.modelFor(undefined));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.offline.close(), this.dispatcher.destroy()]);
  }

  private addOf(access: ProviderAccess, name: string): ChatModel {
    const { provider, firstByteMs, idleMs } = this.config.model;
    const link = { dispatcher: this.dispatcher, firstByteMs, idleMs };
    const model = new LoggedModel(providerModel(access, name, link), this.logger.child({ provider }));
    this.models.set(name, model);
    return model;
  }
}

function providerModel(access: ProviderAccess, name: string, link: ProviderLink): ChatModel {
  const { baseUrl, apiKey, acceptsPictures } = access;
  if (access.wire === 'openai') {
    return new OpenAiCompatibleModel({
      ...link,
      name,
      baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      acceptsPictures,
    });
  }
  const provider = access.wire === 'anthropic' ? anthropic : google;
  return new AiSdkModel({ ...link, name, baseUrl, apiKey: apiKey ?? '', provider });
}

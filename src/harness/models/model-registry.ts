import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { trustedDispatcher } from '../../outgoing/trusted-dispatcher.js';
import type { ChatModel } from '../ports/chat-model.port.js';
import { OfflineModel } from './offline/offline-model.js';
import { TesseractReader } from './offline/tesseract-reader.js';
import { OpenAiCompatibleModel } from './openai-compatible.js';
import { providerAccess, type ProviderAccess } from './providers.js';
import { ScriptModel } from './script/script-model.js';

/** The models of this server, by name. */
@Injectable()
export class ModelRegistry implements OnApplicationShutdown {
  /** The name of the model that agents without one of their own use. */
  readonly defaultName: string;
  private readonly access: ProviderAccess | undefined;
  private readonly offline = new OfflineModel(new TesseractReader());
  private readonly models = new Map<string, ChatModel>();

  /** @throws ConfigError when the configured provider lacks its key or the name of a model */
  constructor(private readonly config: Config) {
    const { provider } = config.model;
    this.models.set('offline', this.offline);
    this.models.set('script', new ScriptModel({ testSteps: config.harness.scriptModel.enabled }));
    this.access = providerAccess(config.model);
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
    await this.offline.close();
  }

  private addOf({ baseUrl, apiKey, acceptsPictures }: ProviderAccess, name: string): ChatModel {
    const { firstByteMs, idleMs } = this.config.model;
    const model = new OpenAiCompatibleModel({
      name,
      baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      dispatcher: trustedDispatcher,
      firstByteMs,
      idleMs,
      acceptsPictures,
    });
    this.models.set(name, model);
    return model;
  }
}

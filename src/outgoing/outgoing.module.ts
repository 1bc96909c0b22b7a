import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { OutgoingFetch } from './guarded-fetch.js';

/** The one guarded way out to URLs that callers name. */
@Module({
  providers: [
    { provide: OutgoingFetch, useFactory: (config: Config) => new OutgoingFetch(config.fetch), inject: [Config] },
  ],
  exports: [OutgoingFetch],
})
export class OutgoingModule implements OnApplicationShutdown {
  constructor(private readonly outgoing: OutgoingFetch) {}

  async onApplicationShutdown(): Promise<void> {
    await this.outgoing.close();
  }
}

import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { FileBlobStore } from './blob-store.file.js';
import { BlobStore } from './blob-store.port.js';

/** Gives every module the blob store by its port. */
@Global()
@Module({
  providers: [
    { provide: BlobStore, useFactory: (config: Config) => new FileBlobStore(config.storage.dir), inject: [Config] },
  ],
  exports: [BlobStore],
})
export class StorageModule {}

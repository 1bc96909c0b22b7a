import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { OutgoingModule } from '../outgoing/outgoing.module.js';
import { BlobStore } from '../storage/blob-store.port.js';
import { AnswersService } from './answers.service.js';
import { BlobKeeper } from './blob-keeper.js';
import { ImageIntake } from './image-intake.js';
import { ModelPictures } from './model-pictures.js';
import { PicturesService } from './pictures.service.js';
import { UrlSeal } from './url-seal.js';

/** Pictures in, answers about them out. Config, Clock, Database and BlobStore come from global modules. */
@Global()
@Module({
  imports: [OutgoingModule],
  providers: [
    AnswersService,
    PicturesService,
    { provide: ImageIntake, useFactory: (config: Config) => new ImageIntake(config.vision), inject: [Config] },
    { provide: UrlSeal, useFactory: (config: Config) => UrlSeal.open(config.storage.dir), inject: [Config] },
    {
      provide: BlobKeeper,
      useFactory: (database: Database, blobs: BlobStore) => new BlobKeeper(database, blobs),
      inject: [Database, BlobStore],
    },
    {
      provide: ModelPictures,
      useFactory: (blobs: BlobStore, config: Config) => new ModelPictures(blobs, config.vision.modelMaxEdge),
      inject: [BlobStore, Config],
    },
  ],
  exports: [AnswersService, PicturesService],
})
export class VisionModule {}

import { Module } from '@nestjs/common';
import { GrpcHealth } from './grpc-health.js';
import { GrpcServer } from './grpc-server.js';
import { GrpcController } from './grpc.controller.js';
import { RunStreams } from './run-streams.js';

/** The gRPC door; `GrpcServer` is the strategy to connect. The services that it calls come from global modules. */
@Module({
  controllers: [GrpcController],
  providers: [RunStreams, GrpcHealth, GrpcServer],
  exports: [GrpcServer],
})
export class GrpcModule {}

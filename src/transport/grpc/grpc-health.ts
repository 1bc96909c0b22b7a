import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { GRPC_SERVICE_NAME } from './service-definition.js';

/** The standard health service: `SERVING` until the process begins to stop. */
@Injectable()
export class GrpcHealth implements OnModuleDestroy {
  private readonly health = new HealthImplementation({ '': 'SERVING', [GRPC_SERVICE_NAME]: 'SERVING' });

  addTo(server: Server): void {
    this.health.addToServer(server);
  }

  onModuleDestroy(): void {
    this.health.setStatus('', 'NOT_SERVING');
    this.health.setStatus(GRPC_SERVICE_NAME, 'NOT_SERVING');
  }
}

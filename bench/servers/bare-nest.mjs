/** The smallest Nest application on Fastify: one controller with one route. */
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

class HealthController {
  health() {
    return { status: 'ok' };
  }
}
const { prototype } = HealthController;
Get()(prototype, 'health', Object.getOwnPropertyDescriptor(prototype, 'health'));
Controller('health')(HealthController);

class AppModule {}
Module({ controllers: [HealthController] })(AppModule);

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
process.stdout.write(`ready http=${await app.getUrl()}\n`);
process.once('SIGTERM', () => process.exit(0));

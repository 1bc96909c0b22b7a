/** The entry of the renewal thread: a thread has an event loop of its own, so a blocked process still renews. */
import { parentPort, workerData } from 'node:worker_threads';
import { LeaseRenewer } from './lease-renewer.js';
import type { RenewalStart, ToRenewal } from './renewal-messages.js';
import { RenewalStore } from './renewal-store.js';

const port = parentPort;
if (port === null) throw new Error('renewal-thread is the entry of a worker thread');
const start = workerData as RenewalStart;
const renewer = new LeaseRenewer(new RenewalStore(start), start, (message) => port.postMessage(message));
port.on('message', (message: ToRenewal) => {
  renewer.hear(message);
  if (message.type === 'stop') port.close();
});
port.postMessage({ type: 'started' });

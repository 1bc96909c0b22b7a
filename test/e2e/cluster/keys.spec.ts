import { startCluster, type Cluster } from '../../support/cluster.js';

/** Two servers that start at the same moment on an empty schema. What runs do in them is the business of the other files. */
describe('two processes on one database', () => {
  let cluster: Cluster | undefined;
  afterEach(() => cluster?.dispose());

  it('both become ready', async () => {
    cluster = await startCluster(2);
    for (const server of cluster.servers) {
      const answer = await fetch(`${server.http}/readyz`);
      expect(answer.status).toBe(200);
    }
  });
});

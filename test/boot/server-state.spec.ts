import { ServerState } from '../../src/boot/server-state.js';
import type { Database } from '../../src/database/database.js';
import { until } from '../support/core.js';

class FakeDatabase {
  isDurable = true;
  isDown = false;

  ping(): Promise<void> {
    return this.isDown ? Promise.reject(new Error('away')) : Promise.resolve();
  }
}

describe('ServerState', () => {
  it('says what keeps the process from taking work', async () => {
    const database = new FakeDatabase();
    const state = new ServerState(database as unknown as Database);
    expect(state.problems()).toEqual(['the server is starting']);
    state.ready();
    expect(state.problems()).toEqual([]);
    database.isDown = true;
    await until('a failed ping', () => state.problems().length > 0);
    expect(state.problems()).toEqual(['the database does not answer']);
    database.isDown = false;
    await until('a good ping', () => state.problems().length === 0);
    state.draining();
    expect(state.problems()).toEqual(['the server is draining']);
  });

  it('notes that memory does not last', () => {
    const database = new FakeDatabase();
    database.isDurable = false;
    const state = new ServerState(database as unknown as Database);
    expect(state.notes()).toEqual(['the database is in memory: runs do not survive a restart']);
  });
});

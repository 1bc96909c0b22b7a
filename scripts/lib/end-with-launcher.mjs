/**
 * Loaded into the server by `npm start`. The server has a process group of its own, so what kills the launcher's group
 * hard does not reach it, and a dead launcher forwards nothing: then the server ends as it would have in that group.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Listening alone would keep the process alive after its work.
process.channel?.unref();

/** Listens on a free port of the loopback and says so in one line, as the product does. */
export function listen(server) {
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`ready http=http://127.0.0.1:${server.address().port}\n`);
  });
  // By itself, as the product does: a profile is written at a clean end only.
  process.once('SIGTERM', () => process.exit(0));
}

/** Imported first by every script: a clear sentence instead of a syntax error deep inside a dependency. */
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Bridle needs Node 20.19 or newer, this is ${process.versions.node}. Install a newer one from https://nodejs.org and run the command again.\n`,
  );
  process.exit(1);
}

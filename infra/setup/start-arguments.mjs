const help = `Usage: npm start

Installs missing packages, starts the service on http://localhost:3000 and prints an API key. Ctrl-C stops it.

Environment variables:
  PORT                  port of the service; defaults to 3000
  LATHE_DATA            folder of the state; defaults to .lathe
  LATHE_API_KEY         the development key; defaults to one that is created on the first start
  LATHE_ALLOW_HOSTS     private hosts that imports and webhooks may access, such as localhost:8080
  LATHE_MAX_FILE_BYTES  maximum size of an imported file
  LATHE_FILE_SECONDS    how long files are kept
  LATHE_ISOLATION       required refuses to convert without complete isolation

docs/settings.md lists all of them. For example: PORT=3001 npm start
`;

/** Prints the help of `npm start`, or refuses arguments: it has none. Ends this process in both cases. */
export function checkStartArguments(args) {
  const [first] = args;
  if (first === undefined) return;
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(help);
    process.exit(0);
  }
  console.error(`npm start: Expected no arguments but received ${first}. Settings are environment variables.`);
  console.error('npm start -- --help lists them.');
  process.exit(2);
}

#!/usr/bin/env node
/*
 * The `fieldledger` command of the integrators' package. It is plain JavaScript that Node 12 can parse, so that users of an
 * outdated Node get a one-sentence error.
 */
import('./supported-node.js')
  .then(
    () => {
      // Node 22 warns that its SQLite is experimental. Users of a command can do nothing about it.
      const told = process.listeners('warning');
      process.removeAllListeners('warning');
      process.on('warning', (warning) => {
        if (warning.name !== 'ExperimentalWarning') for (const tell of told) tell(warning);
      });
      return import('./main.ts').then(({ runIntegrators }) => runIntegrators(process.argv.slice(2)));
    },
    ({ message }) => {
      process.stderr.write(`fieldledger: ${message}\n`);
      return 1;
    },
  )
  .then((exitCode) => {
    process.exitCode = exitCode;
  });

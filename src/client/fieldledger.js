#!/usr/bin/env node
/*
 * The command `fieldledger` of the integrators' package. It stays plain JavaScript that Node 12 can parse, because its
 * first duty is to tell a Node that is too old so in one sentence.
 */
import('./supported-node.js')
  .then(
    () => {
      // Node 22 calls its SQLite experimental. A person who runs a command can do nothing about it.
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

/*
 * Loaded before each test file: tap without what nobody asks it for here. Without this file all works as well, and a test of the
 * server takes half as long again.
 */
const hooks = require('node:async_hooks');
const modules = require('node:module');

// tap has every program that a test starts note the files that it loads, for its watch mode and for coverage. It looks under this
// name for what it has set up already.
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [], sources: {} };
delete process.env.NODE_OPTIONS;

// Types are stripped in place, so that no source map says more than the file itself; reading those of the packages takes time.
process.setSourceMapsEnabled(false);

// It would note them of the test itself too, and look at each whether a test puts another in its place (`t.mockImport`).
modules.registerHooks = () => ({ deregister() {} });

// It follows every promise, to say which test an error belongs to that nothing catches. Timers and sockets it still follows, and
// an error that it can't place fails the file.
const { createHook } = hooks;
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });

modules.syncBuiltinESMExports();

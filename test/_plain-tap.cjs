/*
 * Loaded before a process that runs test files (_files.ts): tap without what nobody asks it for here. Without this file a test of
 * the server takes half as long again.
 */
const hooks = require('node:async_hooks');
const modules = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

// A test file and its helpers import tap, and get what stands for it.
const standIn = pathToFileURL(join(__dirname, '_tap.ts')).href;
modules.registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'tap' || context.parentURL === standIn) return next(specifier, context);
    return { url: standIn, shortCircuit: true };
  },
});

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

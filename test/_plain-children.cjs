/*
 * Loaded before each test file. tap has every program that a test starts note the files that it loads, for its watch mode and for
 * coverage. Nobody asks for these here, and such a program takes half as long again to start. tap looks under this name for what it
 * has set up already; without it, all works as well, and takes longer.
 */
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [], sources: {} };
delete process.env.NODE_OPTIONS;

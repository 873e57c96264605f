import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

import type { Test } from 'tap';

/** Every socket with which this process has tried to connect to something since. */
export function watchDials(t: Test): Socket[] {
  const dialled: Socket[] = [];
  // The shape is Node's (the channel's documentation).
  const remember = (message: unknown) => void dialled.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', remember);
  t.teardown(() => unsubscribe('net.client.socket', remember));
  return dialled;
}

import { Socket } from 'node:net';

import type { Test } from 'tap';

/** An address that this process has tried to connect to, and the socket. */
export interface Dial {
  address: string;
  socket: Socket;
}

/** Every address that this process has dialled since, whoever asked for it. */
export function watchDials(t: Test): Dial[] {
  const dialled: Dial[] = [];
  const { connect } = Socket.prototype as { connect: (this: Socket, ...given: unknown[]) => Socket };
  t.intercept(Socket.prototype, 'connect', {
    value(this: Socket, ...given: unknown[]) {
      this.on('connectionAttempt', (address: string) => dialled.push({ address, socket: this }));
      return connect.apply(this, given);
    },
  });
  return dialled;
}

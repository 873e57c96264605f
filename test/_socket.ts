import { once } from 'node:events';
import { connect } from 'node:net';

/** A connection on which a test sends what no client library would. */
export interface RawConnection extends Disposable {
  send: (text: string) => void;
  /** Everything that has come back so far. */
  received: () => string;
  isClosed: () => boolean;
  /** Resolves with everything that came back once the other side has closed the connection. */
  closed: Promise<string>;
}

/** Opens a connection to this machine. */
export async function connectTo(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  // A reset is one way of closing; `close` follows it.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve(text);
    });
  });
  await once(socket, 'connect');
  return {
    send: (part) => socket.write(part),
    received: () => text,
    isClosed: () => isClosed,
    closed,
    [Symbol.dispose]: () => socket.destroy(),
  };
}

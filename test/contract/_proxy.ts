import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as sendRequest, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

import type { Party, ServerName } from './_parties.ts';

export interface ProxiedRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
}

export interface ProxiedReply {
  status: number;
  /** By lower-case name; a list is sent as so many headers. */
  headers: Record<string, string | string[]>;
  body: Buffer;
  /** Bytes that are sent after the answer to HEAD, where none may be. */
  stray?: Buffer;
}

/** The proxy's changes to requests and answers. */
export interface Change {
  request?: (request: ProxiedRequest, party: Party) => ProxiedRequest;
  /** Changes the answer; `again` asks the server something else. */
  reply?: (
    reply: ProxiedReply,
    request: ProxiedRequest,
    again: (request: ProxiedRequest) => Promise<ProxiedReply>,
    party: Party,
  ) => ProxiedReply | Promise<ProxiedReply>;
  /** Changes a request that Node's own parser refuses; what begins with `HTTP/` is the answer to it. */
  unparsed?: (sent: string) => string;
}

export interface DefectiveParty extends AsyncDisposable {
  /** The same party, reached through the proxy. */
  party: Party;
  /** Plants a defect in place of the one before. */
  plant: (defect: Change) => void;
}

/** Puts a proxy in front of each server of a party. */
export async function startDefectiveParty(party: Party): Promise<DefectiveParty> {
  let defect: Change = {};
  const agent = new Agent({ keepAlive: true });
  const servers: Server[] = [];
  const urls: Record<ServerName, string> = { ...party.urls };
  for (const [name, url] of Object.entries(party.urls)) {
    const server = createServer({ maxHeaderSize: 100_000 }, (req, res) => {
      const request = toRequest(req);
      const changed = defect.request?.(request, party) ?? request;
      const again = (other: ProxiedRequest) => forward(agent, url, other);
      forward(agent, url, changed)
        .then((reply) => defect.reply?.(reply, request, again, party) ?? reply)
        .then(
          (reply) => {
            res.sendDate = false;
            res.writeHead(reply.status, Object.entries(reply.headers).flatMap(flatHeader));
            if (reply.stray) {
              res.flushHeaders();
              res.socket?.write(reply.stray);
            }
            res.end(request.method === 'HEAD' ? undefined : reply.body);
          },
          (error: unknown) => res.destroy(error as Error),
        );
    });
    server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket: Socket) => {
      const sent = error.rawPacket?.toString('latin1') ?? '';
      const changed = defect.unparsed?.(sent) ?? sent;
      if (changed.startsWith('HTTP/')) socket.end(changed, 'latin1');
      else passOn(url, changed, socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    // A server that listens on a port has an address of this shape; the names are those of the party's urls.
    urls[name as ServerName] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return {
    party: { ...party, urls },
    plant: (next) => {
      defect = next;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      for (const server of servers) {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        await closed;
      }
    },
  };
}

/** Sends bytes as they are, and gives back all that comes. */
function passOn(url: string, sent: string, socket: Socket): void {
  const { hostname, port } = new URL(url);
  const upstream = connect(Number(port), hostname, () => upstream.write(sent, 'latin1'));
  upstream.on('error', (error) => socket.destroy(error));
  upstream.pipe(socket);
}

function toRequest({ method = 'GET', url = '/', headers }: IncomingMessage): ProxiedRequest {
  const kept = Object.entries(headers).filter(([name]) => name !== 'connection' && name !== 'host');
  return { method, target: url, headers: Object.fromEntries(kept) as Record<string, string> };
}

async function forward(agent: Agent, url: string, asked: ProxiedRequest): Promise<ProxiedReply> {
  const { method, target, headers } = asked;
  const request = sendRequest(`${url}${target}`, { method, headers, agent });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const kept = Object.entries(response.headers).filter(
    ([name]) => name !== 'connection' && name !== 'keep-alive',
  );
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(kept) as Record<string, string>,
    body: Buffer.concat(chunks),
  };
}

function flatHeader([name, value]: [string, string | string[]]): string[] {
  return [value].flat().flatMap((one) => [name, one]);
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type WebSocket, WebSocketServer } from 'ws';
import { Failure } from '../api/failure.ts';
import { serveChannel } from '../api/server.ts';
import { subProtocol } from '../api/web-socket.ts';
import type { Core } from '../index.ts';
import { isOwnHost, newToken, refusal } from './access.ts';
import { announceHost, readHost } from './host-file.ts';
import { createWebApp } from './web-app.ts';

export const defaultPort = 7717;
const loopback = '127.0.0.1';
/** Calls are small; a larger message isn't one. */
const messageLimit = 1 << 20;

export interface Host {
  /** `http://127.0.0.1:7717` */
  origin: string;
  /** The origin with the token in its fragment, which browsers don't send: what a person opens. */
  address: string;
  token: string;
  close(): Promise<void>;
}

/** Serves the renderer's files and, at /api, core's API over WebSockets, to this machine alone. Throws `port_busy` or `port_forbidden`. */
export async function startHost(core: Core, webFolder: string, port = defaultPort): Promise<Host> {
  const token = newToken();
  const app = createWebApp(webFolder);
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    if (isOwnHost(request.headers.host)) return void listener(request, response);
    response.writeHead(403, { 'Content-Type': 'text/plain' }).end('This host answers to localhost alone.\n');
  });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageLimit,
    handleProtocols: () => subProtocol,
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const refused = request.url?.split('?')[0] === '/api' ? refusal(request, token) : notFound;
    if (refused) return refuse(socket, refused);
    sockets.handleUpgrade(request, socket, head, (webSocket) => serveWebSocket(core, webSocket));
  });
  await listen(server, port, core.home);
  const origin = originOf((server.address() as AddressInfo).port);
  const withdraw = announceHost(core.home, { address: origin, token, pid: process.pid });
  return {
    origin,
    address: pageOf(origin, token),
    token,
    close: () =>
      new Promise((closed) => {
        withdraw();
        for (const webSocket of sockets.clients) webSocket.close(1001);
        server.close(() => closed());
        server.closeAllConnections();
        for (const webSocket of sockets.clients) webSocket.terminate();
      }),
  };
}

function serveWebSocket(core: Core, webSocket: WebSocket): void {
  webSocket.on('error', () => webSocket.terminate());
  serveChannel(core, {
    send: (text) => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(text);
    },
    onMessage: (handler) => void webSocket.on('message', (data) => handler(data.toString())),
    onClose: (handler) => void webSocket.on('close', handler),
  });
}

const notFound = { status: 404, reason: 'no such page' };

function refuse(socket: Duplex, { status, reason }: { status: number; reason: string }): void {
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${reason}\n`,
  );
}

const originOf = (port: number) => `http://${loopback}:${port}`;
const pageOf = (origin: string, token: string) => `${origin}/#token=${token}`;

function listen(server: Server, port: number, home: string): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => failed(listenFailure(error, port, home)));
    server.listen(port, loopback, listening);
  });
}

function listenFailure(error: NodeJS.ErrnoException, port: number, home: string): Error {
  if (error.code === 'EADDRINUSE') {
    const present = readHost(home);
    const running =
      present?.address === originOf(port)
        ? `StarPO Studio is running already at ${pageOf(present.address, present.token)}`
        : 'Another program has it';
    return new Failure(
      'port_busy',
      `Port ${port} is in use.`,
      `${running}; choose another port with --port, or --port 0 for any.`,
    );
  }
  if (error.code === 'EACCES') {
    return new Failure(
      'port_forbidden',
      `Port ${port} may not be used.`,
      'Choose a port above 1023 with --port.',
    );
  }
  return error;
}

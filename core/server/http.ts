import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type WebSocket, WebSocketServer } from 'ws';
import { type ClosableChannel, messageLimit } from '../contract/channel.ts';
import { Failure } from '../contract/failure.ts';
import { randomHex, type Welcome } from '../contract/handshake.ts';
import { subProtocol } from '../contract/web-socket.ts';
import { authenticate, callerOf, isOwnHost } from '../data-folder/access.ts';
import { pageOf } from './address.ts';
import { exportsPath, filesPath, passFile, uploadsPath } from './files.ts';
import { reachCore } from './reach.ts';
import { signIn, signInPath } from './sign-in.ts';
import { createWebApp } from './web-app.ts';
import { within } from './within.ts';

const loopback = '127.0.0.1';
const filePaths = [filesPath, exportsPath, uploadsPath];
/** Time in ms for clients to close their connections. */
const closeTimeout = 1000;
/** Time in ms for the program on our port to identify itself. */
const identifyTimeout = 3000;

export interface EndpointOptions {
  /** 0 selects any free port. */
  port: number;
  /** The renderer's built files; without it only the API is served. */
  webFolder?: string | undefined;
}

/** The data folder of an endpoint, and its token. */
interface EndpointFolder {
  home: string;
  token: string;
}

export interface Endpoint {
  /** `http://127.0.0.1:7717` */
  origin: string;
  /** The origin with this process's sign-in code in its fragment, which browsers don't send. Users open this address. */
  address: string;
  /** This process's sign-in code. */
  code: string;
  /** Token of the data folder. */
  token: string;
  /** Rejects new clients, and closes current connections once `drained` has settled. */
  close(drained?: Promise<unknown>): Promise<void>;
}

/**
 * Serves core's API over WebSockets at /api, files of runs and exports, uploads, and the renderer's files, to this machine alone; `serve` gets the channel of every client
 * that has proven to know a key. Throws `port_busy` or `port_forbidden`.
 */
export async function openEndpoint(
  { port, webFolder }: EndpointOptions,
  { home, token }: EndpointFolder,
  serve: (channel: ClosableChannel) => void,
): Promise<Endpoint> {
  const listener = webFolder === undefined ? onlyApi : getRequestListener(createWebApp(webFolder).fetch);
  const code = randomHex();
  const used = new Set<string>();
  // Stored, because a closing server has no address but may have pending requests.
  let ownPort = '';
  const server = createServer((request, response) => {
    if (!isOwnHost(request.headers.host))
      response
        .writeHead(403, { 'Content-Type': 'text/plain' })
        .end('This server only accepts requests to localhost.\n');
    else if (request.url === signInPath && webFolder !== undefined)
      signIn(request, response, { token, code, port: ownPort, used }).catch(() => response.destroy());
    else if (filePaths.some((path) => request.url?.startsWith(path)))
      passFile(request, response, { home, code }).catch(() => response.destroy());
    else listener(request, response);
  });
  // A large file takes long over a slow connection; stalled transfers are ended by files.ts.
  server.requestTimeout = 0;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageLimit,
    handleProtocols: () => subProtocol,
  });
  let closing = false;
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (closing) return refuse(socket, { status: 503, reason: 'shutting down' });
    const caller = request.url?.split('?')[0] === '/api' ? callerOf(request) : notFound;
    if ('status' in caller) return refuse(socket, caller);
    sockets.handleUpgrade(request, socket, head, async (webSocket) => {
      webSocket.on('error', () => webSocket.terminate());
      if (!(await authenticate(webSocket, caller, { token, port: ownPort })) || closing) return webSocket.close(1008);
      const channel = channelOf(webSocket);
      channel.send(JSON.stringify({ code } satisfies Welcome));
      serve(channel);
    });
  });
  await listen(server, port, token);
  const { port: listening } = server.address() as AddressInfo;
  ownPort = String(listening);
  const origin = originOf(listening);
  return {
    origin,
    address: pageOf(origin, code),
    code,
    token,
    close: async (drained) => {
      closing = true;
      const closed = once(server, 'close');
      server.close();
      await drained;
      const clients = [...sockets.clients];
      const gone = clients.map((webSocket) => new Promise((ended) => webSocket.once('close', ended)));
      for (const webSocket of clients) webSocket.close(1001);
      await within(closeTimeout, Promise.all(gone));
      for (const webSocket of clients) webSocket.terminate();
      server.closeAllConnections();
      await closed;
    },
  };
}

const onlyApi: RequestListener = (_request, response) => {
  response
    .writeHead(404, { 'Content-Type': 'text/plain' })
    .end('Page not found. Open the address that `starpo serve` printed.\n');
};

function channelOf(webSocket: WebSocket): ClosableChannel {
  return {
    send: (text) => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(text);
    },
    onMessage: (handler) =>
      void webSocket.on('message', (data, isBinary) => {
        if (!isBinary && webSocket.readyState === webSocket.OPEN) handler(data.toString());
      }),
    onClose: (handler) => void webSocket.on('close', handler),
    close: () => webSocket.close(1001),
  };
}

const notFound = { status: 404, reason: 'page not found' };

/** Rejects a connection and closes both directions: a half-open one would keep the server from closing. */
function refuse(socket: Duplex, { status, reason }: { status: number; reason: string }): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${reason}\n`, () =>
    socket.destroy(),
  );
}

const originOf = (port: number) => `http://${loopback}:${port}`;

function listen(server: Server, port: number, token: string): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      listenFailure(error, port, token).then(failed, failed);
    });
    server.listen(port, loopback, listening);
  });
}

async function listenFailure(error: NodeJS.ErrnoException, port: number, token: string): Promise<Error> {
  if (error.code === 'EADDRINUSE') {
    const [ours, isServed] = await Promise.all([reachCore(originOf(port), token), isStudio(originOf(port))]);
    ours?.close();
    const holder = ours
      ? `StarPO Studio is already running at ${pageOf(originOf(port), ours.code)}`
      : isServed
        ? 'StarPO Studio is already serving a different data folder on this port'
        : 'Another program is using it';
    return new Failure(
      'port_busy',
      `Port ${port} is in use.`,
      `${holder}. Choose another port with --port, or --port 0 for any free port.`,
    );
  }
  if (error.code === 'EACCES') {
    return new Failure(
      'port_forbidden',
      `Permission denied for port ${port}.`,
      'Choose a port above 1023 with --port.',
    );
  }
  return error;
}

/** Returns whether the page at an address names StarPO Studio. Unauthenticated, so use it only in hints. */
async function isStudio(origin: string): Promise<boolean> {
  try {
    const answer = await fetch(origin, { signal: AbortSignal.timeout(identifyTimeout), redirect: 'error' });
    const { done, value } = await answer.body!.getReader().read();
    return !done && new TextDecoder().decode(value).includes('StarPO Studio');
  } catch {
    return false;
  }
}

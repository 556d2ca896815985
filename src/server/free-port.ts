import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/**
 * Returns a TCP port of `host` that is free and that the system will not hand out again for a while. Another process
 * can still take it on purpose before it is used.
 *
 * @example
 * const port = await freePort('127.0.0.1');
 */
export async function freePort(host: string): Promise<number> {
  const server = await listen(host, 0);
  const { port } = server.address() as AddressInfo;
  if (process.platform === 'linux') await leaveInTimeWait(server, host, port);
  await close(server);
  return port;
}

/** Says whether `port` of `host` can be listened on now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  try {
    await close(await listen(host, port));
    return true;
  } catch {
    return false;
  }
}

/**
 * Linux picks ephemeral ports at random, so a closed one may come back at once. A connection closed first by the
 * accepting side stays in TIME_WAIT, which keeps the port from other pickers and not from an explicit listen.
 */
async function leaveInTimeWait(server: Server, host: string, port: number): Promise<void> {
  const accepted = once(server, 'connection');
  const client = connect(port, host);
  client.on('error', () => undefined);
  const [socket] = (await accepted) as [ReturnType<typeof connect>];
  socket.end();
  client.resume();
  await once(client, 'close');
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

import { type ChildProcess, spawn } from 'node:child_process';

/** Waits for its standard input to close, which the system does however the parent dies, then ends the process. */
const guardScript = `
const pid = Number(process.argv[1]);
const send = (signal) => { try { process.kill(pid, signal); } catch { process.exit(); } };
process.stdin.on('end', () => {
  send('SIGTERM');
  setInterval(() => send(0), 100);
  setTimeout(() => { send('SIGKILL'); process.exit(); }, 5000);
}).resume();
`;

const bound = new Set<ChildProcess>();
let listening = false;

/**
 * Makes `child` end when this process ends, whatever ends it: return, exit, signal or kill. Takes no signal handler, so
 * the handlers of the program, and the default action where it has none, stay as they are. The binding ends by itself
 * when the child exits.
 *
 * @example
 * const child = spawn('temporal', ['server', 'start-dev']);
 * endWithParent(child);
 */
export function endWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const guard = spawn(process.execPath, ['-e', guardScript, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  // A guard that cannot start leaves the 'exit' listener below; that is no reason to fail.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  bound.add(child);
  child.once('exit', () => {
    bound.delete(child);
    guard.kill('SIGKILL');
  });
  if (listening) return;
  listening = true;
  process.on('exit', () => bound.forEach((running) => running.kill('SIGTERM')));
}

import { spawn } from 'node:child_process';
import { endWithParent } from '../../src/server/end-with-parent';

// Run as a program: starts a child bound to it, says the child's pid, then ends as its argument tells.
const handlersBefore = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore', detached: true });
endWithParent(child);
const handlersTaken = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM') - handlersBefore;

if (process.argv[2] === 'handle') process.on('SIGTERM', () => process.exit(7));
process.stdin.on('data', () => process.exit(0));
console.log(JSON.stringify({ childPid: child.pid, handlersTaken }));

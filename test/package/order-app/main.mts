import { fileURLToPath } from 'node:url';
import { play } from './play.js';

const observed = await play(fileURLToPath(new URL('./workflows.js', import.meta.url)));
process.stdout.write(JSON.stringify(observed));

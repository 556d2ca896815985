import { play } from './play.js';

play(require.resolve('./workflows'))
  .then((observed) => process.stdout.write(JSON.stringify(observed)))
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });

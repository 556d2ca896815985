import { onServer } from '../support/on-server';
import { scenes } from './catalogue';
import { dependenciesOf } from './dependencies-of';
import { playAll } from './play-all';

// Bundling comes first, and the replay of every history last.
jest.setTimeout(180_000);

const server = onServer(() => dependenciesOf(scenes), { silent: true, workflows: require.resolve('./workflows') });

playAll({
  name: 'server',
  graphs: () => server.graphs,
  threadId: (name) => server.threadId(name),
  atOnce: 8,
  tries: 2,
});

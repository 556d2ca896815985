import { randomUUID } from 'node:crypto';
import { InMemoryGraphs } from 'abeyance/testing';
import { scenes } from './catalogue';
import { dependenciesOf } from './dependencies-of';
import { playAll } from './play-all';

const graphs = new InMemoryGraphs(dependenciesOf(scenes));

playAll({ name: 'memory', graphs: () => graphs, threadId: (name) => `${name}-${randomUUID()}`, atOnce: 16, tries: 1 });

import { startServer } from '../../src/server/index';

// Run as a program: starts a server and says its address.
void startServer({ ui: false }).then(({ address }) => console.log(JSON.stringify({ address })));

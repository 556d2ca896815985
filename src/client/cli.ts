#!/usr/bin/env node
import { main } from './cli-main';

void main(process.argv).then((exitCode) => {
  // Not process.exit: what is still on its way into a pipe must get there.
  process.exitCode = exitCode;
});

import { implement, interrupt, nodeContext, once, type NodeSet } from 'abeyance';
import { appendFileSync, readFileSync } from 'node:fs';
import { careless, errand } from './asking-graphs';

/** The bodies of graphs that are cruel to their worker; what they do in the world is appended to a file. */
export function errandNodes(effectsFile: string): NodeSet[] {
  const effect = (what: string): string => {
    appendFileSync(effectsFile, `${nodeContext().threadId} ${what}\n`);
    return what;
  };
  return [
    implement(errand, {
      run: async () => {
        const first = await once('first', () => effect('first'));
        const second = await once('second', () => effect('second'));
        if (nodeContext().attempt === 1) await new Promise(() => undefined);
        return { done: [first, second] };
      },
    }),
    implement(careless, {
      leave: async ({ what }) => {
        const { threadId } = nodeContext();
        const late = async (): Promise<void> => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          appendFileSync(effectsFile, `${threadId} late\n`);
          if (what === 'interrupt') interrupt('too late?');
          throw new Error('an error of their own');
        };
        void late();
        return {};
      },
    }),
  ];
}

/** Writes down that a node has begun; the first time it then never comes back. */
export function hangOnce(effectsFile: string): (threadId: string) => Promise<void> {
  return async (threadId) => {
    appendFileSync(effectsFile, `${threadId} begun\n`);
    const begun = readFileSync(effectsFile, 'utf8').split(`${threadId} begun`).length - 1;
    if (begun === 1) await new Promise(() => undefined);
  };
}

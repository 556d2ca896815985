import { implement, interrupt, nodeContext, once, type NodeSet } from 'abeyance';
import { appendFileSync } from 'node:fs';
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

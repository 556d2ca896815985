import { Command, implement, interrupt, nodeContext, type NodeSet } from 'abeyance';
import { failing, picky, two_writers } from './failing-graphs';

class Money {
  constructor(readonly cents: number) {}
}

class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** The bodies of the failing graphs; `attempts` counts them by thread. */
export function failingNodes(attempts: Map<string, number>): NodeSet[] {
  const act = ({ how }: { readonly how: string }): any => {
    const { threadId } = nodeContext();
    attempts.set(threadId, (attempts.get(threadId) ?? 0) + 1);
    switch (how) {
      case 'Date':
        return { value: { at: new Date(0) } };
      case 'BigInt':
        return { value: [10n] };
      case 'class':
        return { value: new Money(5) };
      case 'NaN':
        return { value: Number.NaN };
      case 'unknown key':
        return { nope: 1 };
      case 'invalid value':
        return { count: 'three' };
      case 'no update':
        return 42;
      case 'reducer throws':
        return { log: 'bad' };
      case 'goto':
        return new Command({ goto: 'nowhere' as never });
      case 'throws':
        throw new RangeError('out of stock');
      case 'throws NotFoundError':
        throw new NotFoundError('no such customer');
      case 'throws a string':
        throw 'out of stock';
      case 'throws null':
        throw null;
      case 'once unrecordable':
        return interrupt({ at: new Date(0) });
      default:
        return {};
    }
  };
  return [
    implement(failing, { act }),
    implement(two_writers, { a: async () => ({ value: 1 }), b: async () => ({ value: 2 }) }),
    implement(picky, { ask: async () => ({ value: interrupt('go on?'), log: 'asked' }) }),
  ];
}

import type { Exchange } from 'abeyance/activity';
import { limitExchanges } from '../../src/activities/limit-exchanges';

function exchange(attempt: number, size: number): Exchange {
  return {
    attempt,
    request: {
      method: 'POST',
      url: 'https://x',
      defaulted: [],
      headers: {},
      headersFrom: 'wire',
      body: 'x'.repeat(size),
    },
    response: { status: 500, headers: {}, body: 'y' },
    ms: { provider: 1, library: 1 },
  };
}

const sizes = (exchanges: readonly Exchange[]): (number | string | undefined)[] =>
  exchanges.map(({ request }) => (request.body as string | undefined)?.length ?? request.bodyOmitted);

test.each<[string, number[], number, (number | string)[]]>([
  ['nothing is dropped where all fits', [10, 400_000, 500_000], 0, [10, 400_000, 500_000]],
  ['the oldest goes first', [500_000, 400_000, 300_000], 0, ['size', 400_000, 300_000]],
  ['more go until the rest fits', [500_000, 600_000, 700_000], 0, ['size', 'size', 700_000]],
  ['one that is too large alone loses its body as well', [10, 1_100_000], 0, ['size', 'size']],
  ['what shares the payload counts', [10, 500_000], 1_500_000, ['size', 'size']],
])('%s', (_, given, beside, left) => {
  const limited = limitExchanges(
    given.map((size, index) => exchange(index + 1, size)),
    beside,
  );
  expect(sizes(limited)).toEqual(left);
  expect(limited.map(({ attempt }) => attempt)).toEqual(given.map((_size, index) => index + 1));
  expect(limited.every(({ response }) => response?.status === 500)).toBe(true);
});

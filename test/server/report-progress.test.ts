import { once, EventEmitter } from 'node:events';
import { reportProgress } from '../../src/server/report-progress';

const pace = { firstAfterMs: 5, thenEveryMs: 5 };

describe('progress', () => {
  test('says nothing about work that ends at once', async () => {
    const lines: string[] = [];
    expect(
      await reportProgress(
        'building',
        'cached',
        (line) => lines.push(line),
        async () => 7,
      ),
    ).toBe(7);
    expect(lines).toEqual([]);
  });

  test('names the work and the hint first, then the elapsed time, then the end', async () => {
    const lines: string[] = [];
    const spoken = new EventEmitter();
    const onProgress = (line: string) => {
      lines.push(line);
      if (lines.length === 3) spoken.emit('thrice');
    };
    await reportProgress('building', 'cached afterwards', onProgress, () => once(spoken, 'thrice'), pace);
    expect(lines).toEqual([
      'building (cached afterwards)',
      'building: 0 s so far',
      'building: 0 s so far',
      'building: ended after 0 s',
    ]);
  });
});

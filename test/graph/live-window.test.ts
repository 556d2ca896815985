import { LiveMarks } from '../../src/graph/live-marks';
import { LiveWindow, readLive } from '../../src/graph/live-window';
import type { Narrated } from '../../src/graph/narrator';
import { offsetOf, positionOf } from '../../src/graph/stream-offset';

const place = { task: '1.a', node: 'a', step: 1, visit: 1, at: '' };
const said = (attempt: number, from: number, text: string): Narrated => ({
  kind: 'messages',
  ...place,
  attempt,
  from,
  text,
});
const wrote = (attempt: number, index: number): Narrated => ({
  kind: 'custom',
  ...place,
  attempt,
  index,
  chunk: index,
});

describe('what an attempt shows', () => {
  it('is nothing before anything was shown', () => {
    expect(new LiveWindow(1).live).toBeUndefined();
    expect(new LiveWindow(1).written).toBeUndefined();
  });

  it('keeps the newest 64 KiB of chunks, and counts what came before', () => {
    const window = new LiveWindow(1);
    for (let n = 0; n < 100; n++) window.write('x'.repeat(1022));
    expect(window.written?.from).toBe(36);
    expect(window.written?.chunks).toHaveLength(64);
  });

  it('keeps the last 65,536 characters of text, and counts what came before', () => {
    const window = new LiveWindow(2);
    window.say('a'.repeat(60_000));
    window.say('b'.repeat(10_000));
    expect(window.live?.said?.from).toBe(70_000 - 65_536);
    expect(window.live?.said?.text).toHaveLength(65_536);
    expect(JSON.stringify(window.live).length).toBeLessThan(70_000);
  });

  it('is read back as it was sent, and as nothing where it is not ours', () => {
    const window = new LiveWindow(3);
    window.write({ a: 1 });
    window.say('one');
    expect(readLive(JSON.parse(JSON.stringify(window.live)))).toEqual(window.live);
    for (const other of [undefined, null, 'x', {}, { attempt: 'x' }]) expect(readLive(other)).toBeUndefined();
    expect(readLive({ attempt: 1, written: 7, said: { from: 'x' } })).toEqual({ attempt: 1 });
  });
});

describe('what a reader has seen', () => {
  it('is not told again: of a text the rest, of chunks the new ones', () => {
    const marks = new LiveMarks();
    expect(marks.fresh(said(1, 0, 'one '))).toMatchObject({ from: 0, text: 'one ' });
    expect(marks.fresh(said(1, 0, 'one two'))).toMatchObject({ from: 4, text: 'two' });
    expect(marks.fresh(said(1, 0, 'one two'))).toBeUndefined();
    expect(marks.fresh(wrote(1, 0))).toBeDefined();
    expect(marks.fresh(wrote(1, 0))).toBeUndefined();
    expect(marks.fresh(wrote(1, 2))).toMatchObject({ index: 2 });
  });

  it('is told what is left where the beginning was lost', () => {
    expect(new LiveMarks().fresh(said(1, 100, 'rest'))).toMatchObject({ from: 100, text: 'rest' });
  });

  it('counts anew with each attempt, and nothing of an earlier one comes after', () => {
    const marks = new LiveMarks();
    marks.fresh(said(1, 0, 'one two'));
    expect(marks.fresh(said(2, 0, 'one'))).toMatchObject({ from: 0, text: 'one' });
    expect(marks.fresh(said(1, 0, 'one two three'))).toBeUndefined();
  });

  it('survives as an offset, whatever the task is called', () => {
    const marks = [{ visit: '2.odd=name;x/1.ask#3', attempt: 2, failed: 1, chunks: 4, characters: 5 }];
    const position = { run: 'a-run', event: 10, place: 3, marks };
    expect(positionOf(offsetOf(position))).toEqual(position);
    for (const bad of ['', 'x', 'run/1', 'run/1.2;x', 'run/x.1', 'run/1.2;%E0=1.0.0.0'])
      expect(positionOf(bad)).toBeUndefined();
  });
});

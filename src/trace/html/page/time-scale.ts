import { duration } from './format';
import { everyRow, type Row } from './rows';

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly idle: boolean;
  /** Where it is drawn, in parts of the width. */
  readonly left: number;
  readonly width: number;
}

/** From time to place: a straight line, or one in which stretches without work are folded. */
export interface TimeScale {
  readonly segments: readonly Segment[];
  place(ms: number): number;
}

const WORK = new Set(['turn', 'tool', 'node', 'activity', 'child workflow']);

export function timeScale(rows: readonly Row[], fold: boolean): TimeScale {
  const from = Math.min(...rows.map((row) => row.from));
  const to = everyRow(rows).reduce((latest, row) => Math.max(latest, row.to), from + 0.001);
  const cut = fold ? idleIn(rows, from, to) : [];
  return scaleOf(widths(stretches(from, to, cut)));
}

/** Stretches in which no work went on, long enough to be in the way. */
function idleIn(rows: readonly Row[], from: number, to: number): readonly (readonly [number, number])[] {
  const work = everyRow(rows)
    .filter(({ kind }) => WORK.has(kind))
    .sort((a, b) => a.from - b.from);
  const gaps: (readonly [number, number])[] = [];
  let end = from;
  let busy = 0;
  for (const row of work) {
    if (row.from > end) gaps.push([end, row.from]);
    busy += Math.max(0, row.to - Math.max(row.from, end));
    end = Math.max(end, row.to);
  }
  if (to > end) gaps.push([end, to]);
  // What is left beside the work must not be longer than the work.
  const least = Math.max(busy / 3, (to - from) / 1000);
  return gaps.filter(([begin, finish]) => finish - begin > least);
}

type Stretch = Omit<Segment, 'left' | 'width'>;

function stretches(from: number, to: number, idle: readonly (readonly [number, number])[]): readonly Stretch[] {
  const all: Stretch[] = [];
  let at = from;
  for (const [begin, end] of idle) {
    if (begin > at) all.push({ from: at, to: begin, idle: false });
    all.push({ from: begin, to: end, idle: true });
    at = end;
  }
  if (to > at || all.length === 0) all.push({ from: at, to, idle: false });
  return all;
}

// An idle stretch has a fixed width; a stretch of work has its share of the rest, and never vanishes.
function widths(all: readonly Stretch[]): readonly Segment[] {
  const idle = all.filter((one) => one.idle).length;
  const gap = Math.min(0.2, 0.45 / Math.max(idle, 1));
  const work = all.filter((one) => !one.idle);
  const least = 0.3 / Math.max(work.length, 1);
  const total = work.reduce((sum, one) => sum + one.to - one.from, 0) || 1;
  const raw = all.map((one) => (one.idle ? 0 : least + (one.to - one.from) / total));
  const free = work.length > 0 ? 1 - idle * gap : 0;
  const sum = raw.reduce((one, two) => one + two, 0) || 1;
  let left = 0;
  return all.map((one, index) => {
    const share = one.idle ? (work.length > 0 ? gap : 1 / idle) : ((raw[index] ?? 0) / sum) * free;
    left += share;
    return { ...one, left: left - share, width: share };
  });
}

function scaleOf(segments: readonly Segment[]): TimeScale {
  const place = (ms: number): number => {
    const segment = segments.find(({ to }) => ms <= to) ?? segments.at(-1);
    if (!segment) return 0;
    const length = segment.to - segment.from || 1;
    const part = Math.min(1, Math.max(0, (ms - segment.from) / length));
    return segment.left + part * segment.width;
  };
  return { segments, place };
}

interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Round times along the axis, no closer to each other than can be read. */
export function ticksOf({ segments }: TimeScale, pixels: number): readonly Tick[] {
  const [first] = segments;
  const zero = first?.from ?? 0;
  const ticks = segments.filter(({ idle }) => !idle).flatMap((segment) => ticksIn(segment, zero, pixels));
  let last = -Infinity;
  return ticks.filter(({ at, label }) => {
    const fits = at * pixels > last && at * pixels + label.length * 6 < pixels;
    if (fits) last = at * pixels + label.length * 6.5 + 10;
    return fits;
  });
}

function ticksIn({ from, to, left, width }: Segment, zero: number, pixels: number): readonly Tick[] {
  const step = niceStep((to - from) / Math.max(1, (width * pixels) / 90));
  const ticks: Tick[] = [{ at: left, label: from === zero ? '0' : `+${duration(from - zero)}` }];
  for (let ms = Math.ceil((from - zero) / step) * step + zero; ms < to; ms += step) {
    if (ms === from || duration(ms - zero) === duration(from - zero)) continue;
    ticks.push({ at: left + ((ms - from) / (to - from)) * width, label: duration(ms - zero) });
  }
  return ticks.sort((a, b) => a.at - b.at);
}

const HUMAN_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];

function niceStep(atLeast: number): number {
  if (atLeast > 1000) {
    const seconds = atLeast / 1000;
    return (HUMAN_STEPS.find((step) => step >= seconds) ?? Math.ceil(seconds / 86_400) * 86_400) * 1000;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1e-3)));
  return power * ([1, 2, 5].find((factor) => factor * power >= atLeast) ?? 10);
}

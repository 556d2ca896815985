import type { Page } from 'playwright-core';
import type { Trace } from '../../src/trace/trace';
import { NO_BROWSER, Pages } from './support/browser';
import { everything, hostile, longWait, quick, recorded, threadOf, toolRun, span } from './support/fixture-traces';

// What runs in the page, where the types of this project do not reach.
declare const document: any;
declare const window: any;
declare const navigator: any;
declare const getComputedStyle: (element: any) => any;
declare const requestAnimationFrame: (then: () => void) => void;

if (NO_BROWSER) console.warn(`The page in a browser: ${NO_BROWSER}`);

const inBrowser = NO_BROWSER ? describe.skip : describe;

const PERMISSIONS = { permissions: ['clipboard-read', 'clipboard-write'] };

inBrowser('the page in a browser', () => {
  const pages = new Pages();
  beforeAll(() => pages.start(), 60_000);
  afterAll(() => pages.stop());

  describe('what it shows', () => {
    it.each<[string, () => Trace]>([
      ['a long wait', longWait],
      ['everything a trace can hold', everything],
      ['a quick run', () => quick('quick')],
      ['a recorded approval', () => recorded('gated-agent-approved.v1')],
      ['a recorded denial', () => recorded('gated-agent-denied.v1')],
      ['a recorded pause', () => recorded('pausing-order.v1')],
      ['a recorded node that runs again', () => recorded('rerunning-order.v1')],
      ['a recorded order of two steps', () => recorded('two-step-order.v1')],
    ])(
      '%s: every row opens, without errors and without the network',
      async (_, trace) => {
        const { page, problems, requests } = await pages.open(trace());

        const rows = await page.locator('.row').count();
        for (let row = 0; row < rows; row++) {
          for (const view of ['json', 'formatted']) await page.click(`.segmented [data-value=${view}]`);
          await openAll(page);
          await expectNoSlip(page);
          await page.locator('.tree').press('ArrowDown');
        }

        expect(problems).toEqual([]);
        expect(requests).toEqual([]);
      },
      60_000,
    );

    it('the totals, and a row for everything that happened', async () => {
      const { page } = await pages.open(longWait());

      const header = await page.locator('.page-head').innerText();
      for (const fact of ['order-42', 'done', 'gated-agent', '3 d 4 h', '710 in · 89 out', '1 retry']) {
        expect(header).toContain(fact);
      }
      expect(await page.locator('.row .title').allInnerTexts()).toEqual([
        'order-42',
        'run',
        'pause',
        'turn 1 · live',
        'human wait · approved',
        'approve',
        'approved',
        'checkpoint',
        'resume',
        'approval_gate',
        'place_order',
        'turn 2 · live',
        'checkpoint',
      ]);
    });

    it('of a turn: messages, tools, both attempts over the wire, times and tokens', async () => {
      const { page } = await pages.open(longWait());

      await select(page, 'turn 1 · live');
      await openAll(page);

      const detail = await page.locator('.detail').innerText();
      for (const fact of [
        'You place orders.',
        'Declared tools (1)',
        '"integer"',
        'Wire, attempt 1',
        '429',
        'retry-after',
        'Wire, attempt 2',
        'Defaulted (6)',
        'authorization',
        'not recorded',
        'reasoning_content',
        'provider 1.28 s · library 235 ms',
        '308 in (128 cached) · 71 out (16 reasoning) · 379 total',
        'Attempts (2)',
        'PROVIDER_BUSY: 429 Too Many Requests',
      ]) {
        expect(detail).toContain(fact);
      }
    });

    it('of a wait: who, when, how long, why, and who was refused', async () => {
      const { page } = await pages.open(longWait());

      await select(page, 'human wait · approved');

      const detail = await page.locator('.detail').innerText();
      expect(detail).toContain('approved by ana@example.com after 3 d 4 h');
      expect(detail).toContain('Within the budget of this quarter.');
      expect(detail).toContain('2026-09-17 01:58:25.320 UTC');
      expect(detail).toContain('DIGEST_MISMATCH: It names another question.');
    });

    it('all of a thousand calls, of which only those in sight are drawn', async () => {
      const calls = Array.from({ length: 3000 }, (_, index) =>
        toolRun({ span: span(index * 10, 9), tool: `call ${index}` }),
      );
      const many = { ...longWait().runs[0]!.stops[0]!, items: calls };
      const { page, problems } = await pages.open(threadOf('many', [many]));

      await page.keyboard.press('End');

      expect(await page.locator('.row').count()).toBeLessThan(100);
      expect(await page.locator('.row[aria-selected=true] .title').innerText()).toBe('checkpoint');
      expect(await page.locator('.row .title').allInnerTexts()).toContain('call 2999');
      expect(problems).toEqual([]);
    });
  });

  describe('idle time', () => {
    it('is hidden where most of the thread was waiting, and shown when asked for', async () => {
      const { page } = await pages.open(longWait());
      const turn = () => widthOf(page, 'turn 2 · live');

      expect(await page.getAttribute('.fold-idle', 'aria-pressed')).toBe('true');
      expect(await page.locator('.axis .idle').innerText()).toBe('3 d 4 h');
      expect(await turn()).toBeGreaterThan(40);

      await page.click('.fold-idle');

      expect(await page.getAttribute('.fold-idle', 'aria-pressed')).toBe('false');
      expect(await page.locator('.axis .idle').count()).toBe(0);
      expect(await turn()).toBeLessThan(4);
      expect(await widthOf(page, 'human wait · approved')).toBeGreaterThan(200);
    });

    it('is shown where nothing waited', async () => {
      const { page } = await pages.open(quick('quick'));

      expect(await page.getAttribute('.fold-idle', 'aria-pressed')).toBe('false');
    });

    it('a wait is hatched, work is not', async () => {
      const { page } = await pages.open(longWait());
      const image = (row: string) =>
        rowOf(page, row)
          .locator('.bar')
          .evaluate((bar) => getComputedStyle(bar).backgroundImage);

      expect(await image('human wait · approved')).toContain('repeating-linear-gradient');
      expect(await image('turn 1 · live')).toBe('none');
    });
  });

  describe('the keyboard', () => {
    it('moves, folds and opens', async () => {
      const { page } = await pages.open(longWait());
      const press = async (key: string) => {
        await page.keyboard.press(key);
        return selected(page);
      };

      expect(await press('ArrowDown')).toBe('run');
      expect(await press('ArrowDown')).toBe('pause');
      expect(await press('ArrowLeft')).toBe('pause');
      expect(await page.getAttribute('.row[aria-selected=true]', 'aria-expanded')).toBe('false');
      expect(await press('ArrowDown')).toBe('resume');
      expect(await press('ArrowUp')).toBe('pause');
      expect(await press('ArrowRight')).toBe('pause');
      expect(await press('ArrowRight')).toBe('turn 1 · live');
      expect(await press('ArrowLeft')).toBe('pause');
      expect(await press('End')).toBe('checkpoint');
      expect(await press('w')).toBe('run');
      expect(await page.locator('.row').count()).toBe(2);
      expect(await press('e')).toBe('run');
      expect(await page.locator('.row').count()).toBe(13);
      expect(await press('Home')).toBe('order-42');
    });

    it('searches names and content, and leaves the search', async () => {
      const { page } = await pages.open(longWait());

      await page.keyboard.press('/');
      await page.keyboard.type('their way');

      expect(await page.locator('.row:not(.faint) .title').allInnerTexts()).toEqual(['turn 2 · live']);
      expect(await page.locator('.found').innerText()).toBe('1 match');
      expect(await selected(page)).toBe('turn 2 · live');

      await page.keyboard.press('Escape');

      expect(await page.locator('.row').count()).toBe(13);
      expect(await page.evaluate(() => document.activeElement?.className)).toBe('tree');
    });

    it('goes everywhere by Tab, and the focus is seen', async () => {
      const { page } = await pages.open(longWait());
      const seen = new Set<string>();

      for (let press = 0; press < 40; press++) {
        await page.keyboard.press('Tab');
        const { name, outline } = await page.evaluate(() => {
          const active = document.activeElement;
          const ring = active.matches('.tree') ? active.querySelector('[aria-selected=true]') : active;
          return {
            name: active.className || active.tagName,
            outline: ring ? getComputedStyle(ring).outlineStyle : 'none',
          };
        });
        if (name !== 'BODY') expect([name, outline]).toEqual([name, 'solid']);
        seen.add(name);
      }

      for (const stop of ['tree', 'splitter', 'toggle fold-idle']) expect([...seen]).toContain(stop);
    });

    it('copies the row as JSON', async () => {
      const { page } = await pages.open(longWait(), PERMISSIONS);

      await select(page, 'place_order');
      await page.keyboard.press('c');

      const copied = JSON.parse(await clipboard(page));
      expect(copied).toMatchObject({ kind: 'tool', args: { item: 'widgets', quantity: 500 } });
      expect(await page.locator('#status').innerText()).toBe('Copied the tool as JSON');
    });

    it('moves the border between the panes', async () => {
      const { page } = await pages.open(longWait());
      const width = () => page.locator('.left').evaluate((left) => left.getBoundingClientRect().width);
      const before = await width();

      await page.focus('.splitter');
      await page.keyboard.press('ArrowLeft');

      expect(await width()).toBeLessThan(before);
    });

    it('names the tree to those who do not see it', async () => {
      const { page } = await pages.open(longWait());

      await page.keyboard.press('End');

      const active = await page.getAttribute('[role=tree]', 'aria-activedescendant');
      const row = page.locator(`[id="${active}"]`);
      expect(await row.getAttribute('role')).toBe('treeitem');
      expect(await row.getAttribute('aria-level')).toBe('4');
      expect(await row.getAttribute('aria-posinset')).toBe(await row.getAttribute('aria-setsize'));
    });
  });

  it('copies a request as cURL, in which a shell reads what was sent, and no secret', async () => {
    const { page } = await pages.open(longWait(), PERMISSIONS);
    await select(page, 'turn 2 · live');

    await page.click('text=Copy as cURL');

    const copied = await clipboard(page);
    expect(copied).toContain("curl -X 'POST' --url 'https://api.deepseek.com/v1/chat/completions'");
    expect(copied).toContain("-H 'authorization: not recorded'");
    expect(copied).toContain(`(it'\\''s ours)`);
    expect(copied).not.toContain('content-length');
    expect(copied).toContain('"content":"Order 500 widgets."');
  });

  describe('hostile content', () => {
    it('executes nothing, asks for nothing, and stands there as text', async () => {
      const { page, problems, requests } = await pages.open(hostile());

      const rows = await page.locator('.row').count();
      for (let row = 0; row < rows; row++) {
        await openAll(page);
        await expectNoSlip(page);
        await page.locator('.tree').press('ArrowDown');
      }

      expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
      expect(await page.locator('img, iframe, object, a, form').count()).toBe(0);
      expect(await page.locator('script').count()).toBe(2);
      expect(problems).toEqual([]);
      expect(requests).toEqual([]);
    }, 60_000);

    it('control characters and direction marks are written out, and marked as such', async () => {
      const { page } = await pages.open(hostile());

      await page.keyboard.press('End');
      await page.keyboard.press('ArrowUp');

      const shown = await page.locator('.detail .unseen').allInnerTexts();
      expect(shown).toEqual(
        expect.arrayContaining(['\\x1b', '\\x00', '\\u202e', '\\u2066', '\\u200f', '\\u2028', '\\ud800']),
      );
    });

    it('two megabytes are shown from their beginning, and all of it when asked for, without delay', async () => {
      const { page, problems } = await pages.open(hostile());
      const took = async (act: () => Promise<unknown>) => {
        const start = performance.now();
        await act();
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
        return performance.now() - start;
      };

      const opening = await took(() => rowAt(page, 4).click());
      expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3000);
      const showing = await took(() => page.locator('.show-all').first().click());

      const shown = await page
        .locator('.text.opened')
        .first()
        .evaluate((text) => text.textContent.length);
      expect(shown).toBeGreaterThan(2_000_000);
      expect(opening).toBeLessThan(3000);
      expect(showing).toBeLessThan(5000);
      expect(await took(() => page.keyboard.press('ArrowDown'))).toBeLessThan(3000);
      expect(problems).toEqual([]);
    });
  });

  describe('a chapter', () => {
    const chapter = {
      title: 'Interrupts',
      scenarios: [
        {
          name: 'it_pauses',
          variants: [
            { mode: 'mock' as const, trace: quick('mock-1') },
            { mode: 'live' as const, trace: quick('live-1', 'live') },
          ],
        },
        {
          name: 'it_gates',
          variants: [
            { mode: 'mock' as const, traces: [quick('approved'), quick('denied')] },
            { mode: 'live' as const, trace: longWait() },
          ],
        },
        { name: 'mock_only', variants: [{ mode: 'mock' as const, trace: quick('alone') }] },
      ],
    };

    it('shows its scenarios, each mock and live', async () => {
      const { page, problems } = await pages.open(chapter);
      const threads = () => page.locator('.thread-id').allInnerTexts();

      expect(await page.locator('.scenarios button bdi').allInnerTexts()).toEqual([
        'it pauses',
        'it gates',
        'mock only',
      ]);
      expect(await threads()).toEqual(['mock-1']);

      await page.click('.switcher [data-value=live]');
      expect(await threads()).toEqual(['live-1']);

      await page.click('text=it gates');
      expect(await threads()).toEqual(['order-42']);

      await page.click('.switcher [data-value=mock]');
      expect(await threads()).toEqual(['approved', 'denied']);
      expect(await page.locator('.row[aria-level="1"] .title').allInnerTexts()).toEqual(['approved', 'denied']);

      await page.click('text=mock only');
      expect(await page.locator('.switcher button').allInnerTexts()).toEqual(['Mock']);
      expect(problems).toEqual([]);
    });
  });

  it('is light or dark as the system is, and as it is told to be', async () => {
    const { page } = await pages.open(quick('quick'), { colorScheme: 'dark' });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();

    await page.click('.theme');
    expect(await page.locator('.theme').innerText()).toContain('Light');
    expect(await paper()).not.toBe(dark);

    await page.click('.theme');
    expect(await paper()).toBe(dark);
  });
});

function rowOf(page: Page, name: string) {
  return page.locator('.row', { has: page.locator(`.title:text-is("${name}")`) }).first();
}

function rowAt(page: Page, index: number) {
  return page.locator(`.row[data-index="${index}"]`);
}

async function select(page: Page, name: string): Promise<void> {
  await rowOf(page, name).click();
}

function selected(page: Page): Promise<string> {
  return page.locator('.row[aria-selected=true] .title').innerText();
}

function widthOf(page: Page, name: string): Promise<number> {
  return rowOf(page, name)
    .locator('.bar')
    .evaluate((bar) => bar.getBoundingClientRect().width);
}

async function openAll(page: Page): Promise<void> {
  await page.locator('.detail').evaluate((detail) => {
    for (const fold of detail.querySelectorAll('details')) fold.open = true;
  });
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
}

/** Nothing is wider than the window, and nothing failed to be laid out. */
async function expectNoSlip(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
  expect(await page.locator('.detail').innerText()).not.toMatch(
    /could not be laid out|\[object |\bundefined\b|\bNaN\b/,
  );
}

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { renderHtml } from '../../../src/trace/html/render-html';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Why no browser can be started here; CI must have one. */
export const NO_BROWSER = existsSync(CHROMIUM) || process.env.CI ? undefined : `skipped: no Chromium at ${CHROMIUM}`;

/** A page in a real browser, and what went wrong on it. */
export interface OpenPage {
  readonly page: Page;
  readonly problems: readonly string[];
  /** Everything it asked for beside its own file. */
  readonly requests: readonly string[];
}

/** Pages of rendered traces in a real browser. */
export class Pages {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'trace-html-'));
  private browser: Browser | undefined;
  private count = 0;

  async start(): Promise<void> {
    this.browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    });
  }

  async open(input: Parameters<typeof renderHtml>[0], options: BrowserContextOptions = {}): Promise<OpenPage> {
    const file = path.join(this.folder, `${++this.count}.html`);
    writeFileSync(file, renderHtml(input));
    const context = await (this.browser as Browser).newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    const problems: string[] = [];
    const requests: string[] = [];
    const url = pathToFileURL(file).href;
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('dialog', (dialog) => problems.push(`dialog ${dialog.message()}`));
    page.on('request', (request) => request.url() !== url && requests.push(request.url()));
    await page.goto(url);
    await page.waitForSelector('.row');
    return { page, problems, requests };
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

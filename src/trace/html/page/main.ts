import type { PageData, Scenario, Variant } from '../page-data';
import { button, h, replace, segmented } from './dom';
import { threadHeader } from './header';
import { onKey } from './keys';
import { bdi, plain } from './text';
import { themeToggle } from './theme';
import { TraceView } from './trace-view';

/** The page: its header, for a chapter its scenarios, and the traces of the chosen one. */
class Page {
  private readonly nav = h('nav', { class: 'scenarios', 'aria-label': 'Scenarios' });
  private readonly summary = h('div', { class: 'summary' });
  private readonly stage = h('main', { class: 'stage' });
  private readonly switcher = h('div', { class: 'switcher' });
  private mode: Variant['mode'] = 'mock';
  private scenario: Scenario | undefined;
  private view: TraceView | undefined;

  constructor(private readonly data: PageData) {}

  start(app: HTMLElement): void {
    const title = h(
      'div',
      { class: 'brand' },
      this.data.chapter ? bdi(this.data.title, 'page-title') : h('span', { class: 'page-title' }, 'Trace'),
    );
    const keys = h('span', { class: 'keys dim' }, '↑↓ move · ←→ fold · / search · E W all · C copy');
    const top = h('div', { class: 'top' }, title, this.switcher, h('span', { class: 'grow' }), keys, themeToggle());
    const head = h('header', { class: 'page-head' }, top, this.summary);
    const body = h('div', { class: 'body' }, ...(this.data.chapter ? [this.nav] : []), this.stage);
    app.append(head, body, h('div', { id: 'status', class: 'offscreen', role: 'status' }));
    document.addEventListener('keydown', (event) => this.view && onKey(event, this.view));
    window.addEventListener('resize', () => this.view?.resized());
    const [first] = this.data.scenarios;
    if (first) this.open(first);
    else this.stage.append(h('p', { class: 'nothing' }, 'No scenarios.'));
  }

  private open(scenario: Scenario): void {
    this.scenario = scenario;
    const variant = scenario.variants.find(({ mode }) => mode === this.mode) ?? scenario.variants[0];
    this.drawNav();
    this.drawSwitcher(scenario, variant);
    const traces = variant?.traces ?? [];
    this.summary.classList.toggle('many', traces.length > 1);
    replace(this.summary, ...traces.map(threadHeader));
    this.view = undefined;
    if (traces.length === 0) return replace(this.stage, h('p', { class: 'nothing' }, 'No trace.'));
    const view = new TraceView(traces);
    this.view = view;
    replace(this.stage, view.element);
    view.resized();
    view.selectFirst();
    view.tree.element.focus({ preventScroll: true });
  }

  private drawNav(): void {
    const items = this.data.scenarios.map((scenario, index) => {
      const current = scenario === this.scenario;
      const item = button('', () => this.open(scenario), {
        'aria-current': current ? 'true' : undefined,
        title: plain(scenario.name),
      });
      item.append(h('span', { class: 'ordinal' }, String(index + 1)), bdi(scenario.name.replaceAll('_', ' ')));
      return h('li', {}, item);
    });
    replace(this.nav, h('ol', {}, ...items));
    this.nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  private drawSwitcher(scenario: Scenario, variant: Variant | undefined): void {
    if (!this.data.chapter || !variant) return;
    const options = scenario.variants.map(({ mode }) => ({ value: mode, label: mode === 'mock' ? 'Mock' : 'Live' }));
    const choose = (mode: Variant['mode']) => {
      this.mode = mode;
      this.open(scenario);
    };
    replace(this.switcher, segmented('Variant', options, variant.mode, choose));
  }
}

function start(): void {
  const app = document.getElementById('app');
  const data = document.getElementById('data');
  if (app && data) new Page(JSON.parse(data.textContent) as PageData).start(app);
}

start();

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { renderHtml } from '../../src/trace/html/render-html';
import { hostile, longWait, quick } from './support/fixture-traces';

const ROOT = path.resolve(__dirname, '../..');

it('the page’s script and style are built from their sources, and the sources type-check', () => {
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-trace-page.mjs'), '--check'], { stdio: 'pipe' });
}, 120_000);

describe('the HTML of a trace', () => {
  it('is one file that names no other, and allows no script or style but its own', () => {
    const html = renderHtml(longWait());

    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
    const markup = html.replace(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, '');
    expect(markup).not.toMatch(/\b(?:src|href|style|on\w+)=/);
  });

  it('holds the trace as JSON, and gives it back as it was', () => {
    const trace = hostile();

    const html = renderHtml(trace);

    const [, json = ''] = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(html) ?? [];
    expect(json).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(json).scenarios[0].variants[0].traces).toEqual([JSON.parse(JSON.stringify(trace))]);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).not.toContain('<!--');
  });

  it('escapes the title, and shows neither controls nor direction marks in it', () => {
    const title = '</title><b>&amp;\u202e\u001b';

    const html = renderHtml({ title, scenarios: [{ name: 'one', variants: [{ mode: 'mock', trace: quick('a') }] }] });

    expect(html).toContain('<title>&#60;/title&#62;&#60;b&#62;&#38;amp;\ufffd\ufffd</title>');
  });
});

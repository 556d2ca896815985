import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Trace } from 'abeyance/trace';
import { writeProgram } from '../server/fake-programs';
import { testServer } from '../support/on-server';
import { abeyance, endOf, startAbeyance } from '../support/run-cli';

const HISTORY = join(__dirname, '..', 'histories', 'gated-agent-approved.v1.json');
const NO_SERVER = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
const ESCAPE = '\u001b';

const directory = mkdtempSync(join(tmpdir(), 'abeyance-cli-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = (name: string): string => join(directory, name);

describe('the help', () => {
  it('lists every command, teaches by examples and says what exit codes mean', async () => {
    const { exitCode, out, err } = await abeyance(['--help']);
    expect([exitCode, err]).toEqual([0, '']);
    for (const command of 'start list show pending approve deny edit respond resume trace graph server'.split(' '))
      expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    expect(out).toContain('$ abeyance pending');
    expect(out).toContain('3 refused, nothing changed');
  });

  it('of a deciding command says that nobody verifies who decides, and names the global options', async () => {
    const { exitCode, out } = await abeyance(['approve', '--help']);
    expect(exitCode).toBe(0);
    expect(out.replaceAll(/\s+/g, ' ')).toContain('recorded as given, nobody verifies it');
    expect(out).toMatch(/--namespace <name>[^$]*\$ abeyance approve -w order-42/);
  });
});

describe('a command that is typed wrong ends with 2 and one line', () => {
  test.each([
    [
      'an unknown command',
      ['aprove'],
      /^abeyance: unknown command 'aprove' \(Did you mean approve\?\)\. See: abeyance --help \[USAGE\]\n$/,
    ],
    [
      'an unknown option',
      ['list', '--wating'],
      /unknown option '--wating' \(Did you mean --waiting\?\)\. See: abeyance list --help/,
    ],
    ['no thread', ['deny'], /required option '-w, --workflow-id <id>' not specified.*abeyance deny --help/],
    ['an answer that is no JSON', ['resume', '-w', 'x', 'tomorrow'], /no JSON.*A text needs its quotes.*'"tomorrow"'/],
    [
      'two targets',
      ['approve', '-w', 'x', '--question', 'q', '--node', 'n'],
      /'--question <id>' cannot be used with option '--node <name>'/,
    ],
    ['an input that is no object', ['start', 'order', '-t', 'q', '-i', '[1]'], /must be a JSON object/],
    [
      'an input file that is none',
      ['start', 'order', '-t', 'q', '--input-file', '/no/such'],
      /\/no\/such cannot be read.*\[FILE_UNREADABLE\]/,
    ],
    ['a trace of nothing', ['trace'], /-w, or files with --history/],
    [
      'a trace of what is no history',
      ['trace', '--history', 'package.json'],
      /package\.json is no history.*temporal workflow show.*\[NO_HISTORY\]/,
    ],
    ['an unknown format', ['list', '-o', 'yaml'], /Allowed choices are text, json, jsonl/],
    ['an unknown profile', ['list', '--profile', 'nope'], /Profile 'nope' not found.*\[CONFIG_INVALID\]/],
    ['a port that is none', ['server', '--port', '99999'], /from 1 to 65535/],
  ])('%s', async (_, args, message) => {
    const { exitCode, out, err } = await abeyance(args);
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err.split('\n')).toHaveLength(2);
  });

  it('with JSON as the output the failure is one JSON object on standard error', async () => {
    const { exitCode, out, err } = await abeyance(['resume', '-w', 'x', '{', '-o', 'jsonl']);
    expect([exitCode, out]).toEqual([2, '']);
    expect(JSON.parse(err)).toEqual({
      error: { code: 'USAGE', exitCode: 2, message: expect.stringContaining('no JSON') },
    });
  });

  it('no command at all shows the help on standard error', async () => {
    const { exitCode, out, err } = await abeyance([]);
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toContain('Usage: abeyance');
  });
});

describe('without a server', () => {
  it('a command ends with 6 and says how to get one', async () => {
    const { exitCode, out, err } = await abeyance(['pending', '--client-connect-timeout', '0.3'], { env: NO_SERVER });
    expect([exitCode, out]).toEqual([6, '']);
    expect(err).toMatch(
      /No Temporal server answers at 127\.0\.0\.1:1.*abeyance server.*TEMPORAL_ADDRESS.*\[NO_SERVER\]/,
    );
  });

  it('a recorded history becomes a tree, with no colours in a pipe and as deep as asked', async () => {
    const [tree, shallow, coloured] = await Promise.all([
      abeyance(['trace', '--history', HISTORY], { env: NO_SERVER }),
      abeyance(['trace', '--history', '-', '--depth', '1'], { input: readFileSync(HISTORY, 'utf8') }),
      abeyance(['trace', '--history', HISTORY, '--color', 'always'], { env: { NO_COLOR: '1' } }),
    ]);
    expect([tree.exitCode, tree.err]).toEqual([0, '']);
    expect(tree.out).toMatch(/gated_agent · done.*\n[^]*place_order[^]*approved by demo/);
    expect(tree.out).not.toContain(ESCAPE);
    expect(shallow.out.split('\n').length).toBeLessThan(tree.out.split('\n').length);
    expect(coloured.out).toContain(`${ESCAPE}[`);
  });

  it('and JSON, on standard output or in a file', async () => {
    const [printed, written] = await Promise.all([
      abeyance(['trace', '--history', HISTORY, '-o', 'jsonl'], { env: NO_SERVER }),
      abeyance(['trace', '--history', HISTORY, '--json', file('trace.json')], { env: NO_SERVER }),
    ]);
    const trace = Trace.parse(JSON.parse(printed.out));
    expect(trace).toMatchObject({
      thread: { graph: 'gated_agent', status: 'done' },
      totals: { turns: 1, toolCalls: 1 },
    });
    expect(printed.out.trimEnd()).not.toContain('\n');
    expect(written).toEqual({ exitCode: 0, out: '', err: `abeyance: wrote ${file('trace.json')}\n` });
    expect(JSON.parse(readFileSync(file('trace.json'), 'utf8'))).toEqual(JSON.parse(printed.out));
  });

  it('and one HTML file; one that cannot be written is a failure', async () => {
    const [page, nowhere] = await Promise.all([
      abeyance(['trace', '--history', HISTORY, '--html', file('trace.html')], { env: NO_SERVER }),
      abeyance(['trace', '--history', HISTORY, '--html', '/no/such/folder/x.html'], { env: NO_SERVER }),
    ]);
    expect([page.exitCode, page.out]).toEqual([0, '']);
    expect(readFileSync(file('trace.html'), 'utf8')).toMatch(/^<!doctype html>[^]*gated_agent/i);
    expect([nowhere.exitCode, nowhere.out]).toEqual([1, '']);
    expect(nowhere.err).toContain('[FILE_UNWRITABLE]');
  });

  it('what a run holds cannot drive the terminal', async () => {
    const evil = `${ESCAPE}[31mred\u202egnol\u0007\u009b2J`;
    const planted = readFileSync(HISTORY, 'utf8').replaceAll('"demo"', JSON.stringify(evil));
    const history = JSON.parse(planted) as {
      events: { workflowExecutionStartedEventAttributes?: { workflowId: string } }[];
    };
    history.events[0]!.workflowExecutionStartedEventAttributes!.workflowId = evil;
    writeFileSync(file('evil.json'), JSON.stringify(history));
    const [text, json, missing] = await Promise.all([
      abeyance(['trace', '--history', file('evil.json')], { env: NO_SERVER }),
      abeyance(['trace', '--history', file('evil.json'), '-o', 'json'], { env: NO_SERVER }),
      abeyance(['trace', '--history', evil], { env: NO_SERVER }),
    ]);
    const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
    for (const output of [text.out, json.out, missing.err]) expect(output).not.toMatch(raw);
    expect(text.out).toContain('\\u{1b}[31mred');
    expect(JSON.parse(json.out)).toMatchObject({ thread: { id: evil } });
    expect(missing.exitCode).toBe(2);
  });

  it('a reader that has seen enough is no failure', async () => {
    const child = startAbeyance(['trace', '--history', HISTORY, '-o', 'json'], { env: NO_SERVER });
    child.stdout?.destroy();
    expect(await endOf(child)).toMatchObject({ exitCode: 0, err: '' });
  });
});

describe('abeyance server', () => {
  it('serves until Ctrl-C, and prints where', async () => {
    const child = startAbeyance(['server', '--no-ui', '-o', 'jsonl'], { env: { TEMPORAL_ADDRESS: undefined } });
    const ended = endOf(child);
    const [line] = (await once(child.stdout!, 'data')) as [string];
    const { address, namespace, uiUrl, origin } = JSON.parse(line);
    expect({ address, namespace, uiUrl, origin }).toMatchObject({
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      namespace: 'default',
      uiUrl: undefined,
      origin: { kind: expect.any(String) },
    });
    await (await Connection.connect({ address })).close();
    child.kill('SIGINT');
    expect(await ended).toEqual({ exitCode: 0, out: line, err: '' });
    await expect(Connection.connect({ address, connectTimeout: 200 })).rejects.toThrow();
  });

  it('ends with an error when the server dies', async () => {
    const pidFile = file('pid');
    const asCli = `[ "$1" = --version ] || echo $$ > '${pidFile}'\nexec '${testServer().binary}' "$@"`;
    writeProgram(file('bin'), 'temporal', asCli);
    const env = { TEMPORAL_ADDRESS: undefined, PATH: `${file('bin')}:${process.env.PATH}` };
    const child = startAbeyance(['server', '--no-ui', '-o', 'jsonl'], { env });
    const ended = endOf(child);
    await once(child.stdout!, 'data');
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    const { exitCode, err } = await ended;
    expect(exitCode).toBe(1);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'SERVER_DIED', message: expect.stringContaining('has ended by itself (SIGKILL)') },
    });
  });
});

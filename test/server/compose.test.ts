import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { scratchDirectory } from './fake-programs';

const root = path.resolve(__dirname, '../..');
const real = readFileSync(path.join(root, 'docker-compose.yml'), 'utf8');
const scratch = scratchDirectory();
afterAll(scratch.remove);

function check(file: string) {
  const script = path.join(root, 'scripts/check-compose.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
  return { status, stdout };
}

let number = 0;
function checkChanged(from: string | RegExp, to: string, files: Readonly<Record<string, string>> = {}) {
  const folder = path.join(scratch.path, String(number++));
  mkdirSync(folder);
  cpSync(path.join(root, 'docker'), path.join(folder, 'docker'), { recursive: true });
  const manifest = JSON.stringify({ scripts: { 'example:worker': 'node worker.js' } });
  const written = { 'package.json': manifest, 'docker-compose.yml': real.replace(from, to), ...files };
  for (const [name, text] of Object.entries(written)) writeFileSync(path.join(folder, name), text);
  if (files['docker-compose.yml'] === undefined && from !== '') expect(real.replace(from, to)).not.toBe(real);
  return check(path.join(folder, 'docker-compose.yml'));
}

describe('the compose file', () => {
  test('of this repository has no faults', () => {
    expect(check(path.join(root, 'docker-compose.yml'))).toEqual({
      status: 0,
      stdout: expect.stringMatching(/docker-compose\.yml: no faults\n$/),
    });
  });

  test.each([
    ['text that is not YAML', 'services:', 'services: [', /./],
    ['a key given twice', 'services:', 'services: {}\nservices:', /unique/],
    [
      'a dependency that does not exist',
      'temporal-schema:\n        condition',
      'gone:\n        condition',
      /depends on gone/,
    ],
    ['an unknown condition', 'service_completed_successfully', 'service_done', /unknown condition 'service_done'/],
    [
      'waiting for health without a healthcheck',
      /    healthcheck:\n      test: \['CMD-SHELL'[^]*?retries: 60\n/,
      '',
      /postgresql has no healthcheck/,
    ],
    ['waiting for the end of what restarts for ever', 'on-failure:5', 'always', /restarts for ever/],
    [
      'services that wait for each other',
      'image: postgres:16.4',
      'image: postgres:16.4\n    depends_on: [worker]',
      /cycle/,
    ],
    ['the latest tag', 'temporalio/server:1.31.0', 'temporalio/server:latest', /not pinned/],
    ['no tag', 'temporalio/ui:2.49.1', 'temporalio/ui', /not pinned/],
    [
      'a variable without a default',
      '${TEMPORAL_RETENTION:-72h}',
      '${TEMPORAL_RETENTION}',
      /TEMPORAL_RETENTION has no default/,
    ],
    [
      'a mounted file that is missing',
      './docker/dynamic-config.yaml',
      './docker/gone.yaml',
      /gone\.yaml does not exist/,
    ],
    [
      'a Dockerfile that is missing',
      'docker/worker.Dockerfile',
      'docker/gone.Dockerfile',
      /gone\.Dockerfile does not exist/,
    ],
    ['a port published twice', '8080:8080', '7233:8080', /port 7233 is published twice/],
    ['a volume that is not declared', 'postgresql-data:/var', 'other-data:/var', /other-data is used but not declared/],
    ['a mistyped key', 'healthcheck:', 'health_check:', /unknown key 'health_check'/],
    ['a script that package.json lacks', 'example:worker', 'example:gone', /no script example:gone/],
  ])('with %s is refused in one line', (_, from, to, fault) => {
    const { status, stdout } = checkChanged(from, to);
    expect(status).toBe(1);
    expect(stdout).toMatch(fault);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test('may take a variable from .env', () => {
    const env = { '.env': 'TEMPORAL_RETENTION=24h\n' };
    expect(checkChanged('${TEMPORAL_RETENTION:-72h}', '${TEMPORAL_RETENTION}', env)).toMatchObject({ status: 0 });
  });
});

#!/usr/bin/env node
// Static check of a compose file, for machines without Docker: `node scripts/check-compose.mjs [file]`.
// Prints one line; exits 1 if it names a fault.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from 'yaml';

const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'];
const topLevelKeys = ['name', 'version', 'services', 'volumes', 'networks', 'configs', 'secrets', 'include'];
const serviceKeys = [
  ...['image', 'build', 'platform', 'pull_policy', 'command', 'entrypoint', 'working_dir', 'user', 'init', 'profiles'],
  ...['environment', 'env_file', 'configs', 'secrets', 'volumes', 'tmpfs', 'read_only', 'shm_size', 'ulimits'],
  ...['ports', 'expose', 'networks', 'hostname', 'extra_hosts', 'depends_on', 'healthcheck', 'restart', 'deploy'],
  ...['container_name', 'labels', 'logging', 'stop_signal', 'stop_grace_period', 'cap_add', 'cap_drop', 'security_opt'],
];

const file = path.resolve(process.argv[2] ?? 'docker-compose.yml');
const folder = path.dirname(file);
const faults = checkFile();
const shown = path.relative(process.cwd(), file);
console.log(faults.length === 0 ? `${shown}: no faults` : `${shown}: ${faults.join('; ')}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function checkFile() {
  if (!existsSync(file)) return ['the file does not exist'];
  const text = readFileSync(file, 'utf8');
  const document = parseDocument(text, { merge: true });
  if (document.errors.length > 0) return document.errors.map((error) => error.message.split('\n')[0]);
  const compose = document.toJS() ?? {};
  const services = compose.services;
  if (!isRecord(services) || Object.keys(services).length === 0) return ['no services'];
  return [
    ...checkKeys('the file', compose, topLevelKeys),
    ...checkVariables(text),
    ...Object.entries(services).flatMap(([name, service]) => checkService(name, service, services)),
    ...checkCycles(services),
    ...checkPorts(services),
    ...checkNamedVolumes(services, compose.volumes ?? {}),
  ];
}

function checkService(name, service, services) {
  if (!isRecord(service)) return [`${name}: not a mapping`];
  return [
    ...checkKeys(name, service, serviceKeys),
    ...checkSource(name, service),
    ...checkDependencies(name, service, services),
    ...checkFiles(name, service),
    ...checkHealthcheck(name, service),
    ...checkScript(name, service),
  ];
}

function checkKeys(owner, record, known) {
  const unknown = Object.keys(record).filter((key) => !known.includes(key) && !key.startsWith('x-'));
  return unknown.map((key) => `${owner}: unknown key '${key}'`);
}

/** A variable needs a default, a required mark, or a line in `.env`; else it silently becomes empty. */
function checkVariables(text) {
  const dotenv = path.join(folder, '.env');
  const defined = existsSync(dotenv) ? readFileSync(dotenv, 'utf8') : '';
  const withoutComments = text.replace(/^\s*#.*$/gm, '');
  const uses = [...withoutComments.matchAll(/(?<!\$)\$(?:\{(\w+)(:?[-?+])?[^}]*\}|(\w+))/g)];
  return uses
    .filter(([, , marker]) => marker === undefined)
    .map(([, braced, , bare]) => braced ?? bare)
    .filter((name) => !new RegExp(`^${name}=`, 'm').test(defined))
    .map((name) => `variable ${name} has no default and is not in .env`);
}

function checkSource(name, service) {
  if (service.image === undefined && service.build === undefined) return [`${name}: neither image nor build`];
  if (service.build === undefined) return checkImage(name, service.image);
  const build = buildOf(service);
  if (!existsSync(build.context)) return [`${name}: build context ${build.context} does not exist`];
  if (!existsSync(build.dockerfile)) return [`${name}: ${path.relative(folder, build.dockerfile)} does not exist`];
  const bases = [...readFileSync(build.dockerfile, 'utf8').matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)];
  const stages = bases.map(([, , stage]) => stage);
  return bases.filter(([, base]) => !stages.includes(base)).flatMap(([, base]) => checkImage(name, base));
}

function checkImage(name, image) {
  const filled = String(image).replace(/\$\{\w+:?-([^}]*)\}/g, '$1');
  const tag = /:([^:/]+)$/.exec(filled.split('@')[0])?.[1];
  const pinned = /@sha256:[0-9a-f]{64}$/.test(filled) || (tag !== undefined && tag !== 'latest' && /\d/.test(tag));
  return pinned ? [] : [`${name}: image ${image} is not pinned to a version`];
}

function buildOf({ build }) {
  const { context = '.', dockerfile = 'Dockerfile' } = isRecord(build) ? build : { context: build };
  const from = path.resolve(folder, context);
  return { context: from, dockerfile: path.resolve(from, dockerfile) };
}

function dependenciesOf(service) {
  const wanted = service?.depends_on ?? {};
  return Array.isArray(wanted) ? Object.fromEntries(wanted.map((name) => [name, {}])) : wanted;
}

function checkDependencies(name, service, services) {
  return Object.entries(dependenciesOf(service)).flatMap(([target, wanted]) => {
    const condition = wanted?.condition ?? 'service_started';
    const other = services[target];
    if (!isRecord(other)) return [`${name}: depends on ${target}, which does not exist`];
    if (!conditions.includes(condition)) return [`${name}: unknown condition '${condition}' for ${target}`];
    if (condition === 'service_healthy' && (!other.healthcheck?.test || other.healthcheck.disable)) {
      return [`${name}: waits until ${target} is healthy, but ${target} has no healthcheck`];
    }
    if (condition === 'service_completed_successfully' && ['always', 'unless-stopped'].includes(other.restart)) {
      return [`${name}: waits until ${target} has completed, but ${target} restarts for ever`];
    }
    return [];
  });
}

function checkCycles(services) {
  const state = new Map();
  const visit = (name, trail) => {
    if (state.get(name) === 'done' || !isRecord(services[name])) return [];
    if (trail.includes(name)) return [`dependency cycle ${[...trail, name].join(' → ')}`];
    const found = Object.keys(dependenciesOf(services[name])).flatMap((target) => visit(target, [...trail, name]));
    state.set(name, 'done');
    return found;
  };
  return Object.keys(services).flatMap((name) => visit(name, []));
}

function checkHealthcheck(name, { healthcheck }) {
  if (healthcheck === undefined) return [];
  const { test, disable } = healthcheck;
  if (disable === true || typeof test === 'string') return [];
  const valid = Array.isArray(test) && ['CMD', 'CMD-SHELL', 'NONE'].includes(test[0]);
  return valid ? [] : [`${name}: healthcheck test must start with CMD or CMD-SHELL`];
}

function checkFiles(name, service) {
  const mounts = (service.volumes ?? []).map(sourceOf).filter(isPath);
  const envFiles = [service.env_file ?? []].flat().map((entry) => (isRecord(entry) ? entry.path : entry));
  const missing = [...mounts, ...envFiles].filter((target) => !existsSync(path.resolve(folder, target)));
  return missing.map((target) => `${name}: ${target} does not exist`);
}

/** `npm run x` in a service that is built here must name a script of the package that it is built from. */
function checkScript(name, service) {
  const words = Array.isArray(service.command) ? service.command : String(service.command ?? '').split(/\s+/);
  if (service.build === undefined || words[0] !== 'npm' || words[1] !== 'run') return [];
  const manifest = path.join(buildOf(service).context, 'package.json');
  const scripts = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')).scripts ?? {}) : {};
  return scripts[words[2]] === undefined ? [`${name}: package.json has no script ${words[2]}`] : [];
}

function checkPorts(services) {
  const published = Object.entries(services).flatMap(([name, service]) =>
    (service?.ports ?? []).map((port) => ({ name, port: hostPort(port) })),
  );
  return published
    .filter(({ port }, index) => port !== undefined && published.findIndex((other) => other.port === port) < index)
    .map(({ name, port }) => `${name}: host port ${port} is published twice`);
}

function hostPort(port) {
  if (isRecord(port)) return port.published === undefined ? undefined : String(port.published);
  const parts = String(port)
    .replace(/\$\{\w+:?-([^}]*)\}/g, '$1')
    .split('/')[0]
    .split(':');
  return parts.length === 1 ? undefined : parts.at(-2);
}

function checkNamedVolumes(services, declared) {
  const used = Object.values(services)
    .flatMap((service) => service?.volumes ?? [])
    .map(sourceOf)
    .filter((source) => source !== undefined && !isPath(source));
  return [
    ...used.filter((source) => !(source in declared)).map((source) => `volume ${source} is used but not declared`),
    ...Object.keys(declared)
      .filter((name) => !used.includes(name))
      .map((name) => `volume ${name} is never used`),
  ];
}

function sourceOf(volume) {
  if (isRecord(volume)) return volume.source;
  const parts = String(volume).split(':');
  return parts.length === 1 ? undefined : parts[0];
}

function isPath(source) {
  return source !== undefined && /^[./~]/.test(source);
}

function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

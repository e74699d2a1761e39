// One run: a real client in a home and a project of its own, the scripted model, and the guard between them.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCatalog } from './catalog.js';
import { startModel } from './model/server.js';
import { marker, next } from './scripts.js';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const TIMEOUT_MS = 300_000;

// Whoever ends this program also ends what it started.
const running = new Set();
const end = (child) => {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
};
process.on('exit', () => running.forEach(end));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

function begin(program, args, options) {
  // A client may start others, which would outlive it: a group of its own ends with all of them.
  const child = spawn(program, args, { ...options, detached: true });
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

/** Where a client from the lock file is. */
export const clientPath = (program) => path.join(HERE, 'node_modules', '.bin', program);

/**
 * Plays `script` with `driver`. `sprag` is the binary, or null to let the client run unguarded; `way` says where it stands:
 * in `hooks` that the client runs, in hooks that are `posted` to a server, as a `proxy` before an MCP server over HTTP, or
 * as the `gateway` before the model.
 * Everything stays in `folder`: the client's home with its transcripts, the project, the store, and what the model was
 * asked.
 */
export async function play({ driver, name, script, folder, sprag, way, catalog }) {
  fs.rmSync(folder, { recursive: true, force: true });
  const home = path.join(folder, 'home');
  const project = path.join(folder, 'project');
  const put = (file, text) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  fs.mkdirSync(home, { recursive: true });
  fs.mkdirSync(project, { recursive: true });
  for (const [file, text] of Object.entries(script.files ?? {})) {
    put(path.join(project, file), text);
    if (text.startsWith('#!')) fs.chmodSync(path.join(project, file), 0o755);
  }
  execFileSync('git', ['init', '-q', project]);

  const requests = [];
  const model = await startModel(
    async (conversation) => {
      // A client that shortens its conversation would have the script played again from the start, for ever.
      if (requests.length > 60 + 3 * (script.turns ?? script.speak).length) return { text: 'All done.', calls: [] };
      if (script.delayMs) await new Promise((go) => { setTimeout(go, script.delayMs); });
      return next(conversation, script, {
        translate: (deed) => driver.call(deed, { project, marker }),
        finish: driver.finish,
      });
    },
    (request) => requests.push(request),
  );
  const cache = path.join(HERE, 'node_modules', '.cache', driver.name);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'xterm-256color',
    SPRAG_DB: path.join(folder, 'sprag.db'),
    // What a client downloads for itself is the same for every run.
    XDG_CACHE_HOME: cache,
    npm_config_cache: path.join(cache, 'npm'),
    // Without the certificates of a registry behind a proxy, opencode tries for minutes to install its plugin's packages.
    ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
  };
  let server;
  let gateway;
  try {
    const hooked = Boolean(sprag) && way !== 'proxy' && way !== 'gateway';
    if (way === 'proxy') server = await startProxy(sprag, env);
    // Several runs of a client need one gateway, which is not any run's own.
    if (way === 'gateway' && script.prompts) gateway = await startGateway(sprag, env, model);
    const facing = gateway ? { ...model, url: `${gateway.url}/${driver.mount}` } : model;
    if (way === 'gateway' && script.budget) put(path.join(home, '.config', 'sprag', 'policy.toml'), BUDGET);
    driver.prepare({ home, project, model: facing, put, cache, catalog: server?.url ?? catalog });
    if (hooked) {
      server = way === 'posted' ? await serve(sprag, env) : null;
      const how = server ? ['--user', `--http=${server.url}`] : [driver.scope];
      const scopes = script.setup === 'user-and-project' ? [['--user'], ['--project']] : [how];
      const program = script.setup === 'binary-gone' ? path.join(folder, 'bin', 'sprag') : sprag;
      if (program !== sprag) {
        fs.mkdirSync(path.dirname(program));
        fs.copyFileSync(sprag, program);
      }
      for (const scope of scopes) {
        const args = ['install', driver.name, ...scope, '--yes', ...(script.budget ? ['--budget', script.budget] : [])];
        const out = execFileSync(program, args, { cwd: project, env, encoding: 'utf8' });
        fs.appendFileSync(path.join(folder, 'install.txt'), out);
      }
      if (script.budget) fs.appendFileSync(path.join(home, '.config', 'sprag', 'policy.toml'), '\n[prices]\n"*" = { input = 0, output = 10 }\n');
      if (program !== sprag) fs.rmSync(program);
      if (script.setup === 'policy-broken') put(path.join(home, '.config', 'sprag', 'policy.toml'), '[flow\nmax_depth = "x"\n');
      // A folder in which nobody may make a file, whoever runs this.
      if (script.setup === 'store-read-only') env.SPRAG_DB = '/proc/sprag/sprag.db';
    }
    const prompt = `Please do what has to be done. ${marker(name)}`;
    const leave = script.person && sprag && way !== 'proxy' ? attend(sprag, env, script.person) : () => {};
    // The client's own base URL becomes the gateway's upstream.
    const isRun = way === 'gateway' && !gateway;
    const [program, ...before] = isRun ? [sprag, 'run', clientPath(driver.program)] : [clientPath(driver.program)];
    const ended = { stdout: '', stderr: '', timedOut: false, code: 0 };
    for (const [index, words] of [prompt, ...(script.prompts ?? [])].entries()) {
      const { args, env: own } = driver.command({ prompt: words, model: facing, home, guarded: hooked, again: index > 0 });
      const one = await start(program, [...before, ...args], { cwd: project, env: { ...env, ...own } });
      ended.stdout += one.stdout;
      ended.stderr += one.stderr;
      ended.timedOut ||= one.timedOut;
      ended.code ||= one.code;
    }
    leave();
    driver.keep?.({ home, project, cache });
    put(path.join(folder, 'stdout.txt'), ended.stdout);
    put(path.join(folder, 'stderr.txt'), ended.stderr);
    put(path.join(folder, 'requests.jsonl'), requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    await server?.stop();
    await gateway?.stop();
    const dropped = path.join(project, 'dropped');
    const ran = fs.existsSync(dropped) ? fs.readFileSync(dropped, 'utf8').trim().split('\n').length : 0;
    return { ...ended, requests, ran, records: sprag ? records(sprag, env) : [] };
  } finally {
    await server?.stop();
    await gateway?.stop();
    await model.stop();
  }
}

const BUDGET = '[budget]\ncost_usd = { session = 1 }\n[prices]\n"*" = { input = 0, output = 10 }\n';

/** Somebody at a terminal who answers every question alike, or kills every session. */
function attend(sprag, env, word) {
  const look = setInterval(() => {
    if (!fs.existsSync(env.SPRAG_DB)) return;
    if (word === 'kill') {
      const sessions = JSON.parse(execFileSync(sprag, ['sessions', 'list', '--json'], { env, encoding: 'utf8' }));
      for (const { session, state } of sessions) {
        if (state !== 'killed') execFileSync(sprag, ['sessions', 'kill', session, '--yes', '--why', 'as asked'], { env });
      }
      return;
    }
    const { approvals } = JSON.parse(execFileSync(sprag, ['approvals', '--json'], { env, encoding: 'utf8' }));
    for (const { approval } of approvals) execFileSync(sprag, [word, approval, '--yes', '--why', 'as asked'], { env });
  }, word === 'kill' ? 5000 : 500);
  return () => clearInterval(look);
}

/** A gateway before the model, for as long as it is needed. */
async function startGateway(sprag, env, model) {
  const upstreams = ['anthropic', 'openai', 'gemini'].flatMap((mount) => ['--upstream', `${mount}=${model.url}`]);
  const child = begin(sprag, ['gateway', '--listen', '127.0.0.1:0', ...upstreams], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const said = await new Promise((resolve) => { child.stdout.once('data', (part) => resolve(String(part))); });
  return {
    url: said.match(/http:\S+/)[0],
    stop: () => {
      child.kill();
      return closed;
    },
  };
}

/** The proxy before a catalog over HTTP. */
async function startProxy(sprag, env) {
  const catalog = await startCatalog();
  const child = begin(sprag, ['mcp', '--listen', '127.0.0.1:0', '--upstream', catalog.url], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const said = await new Promise((resolve) => { child.stdout.once('data', (part) => resolve(String(part))); });
  return {
    url: said.match(/http:\S+/)[0],
    stop: () => {
      child.kill();
      catalog.stop();
      return closed;
    },
  };
}

/** The guard's server over the store of this run. */
async function serve(sprag, env) {
  const child = begin(sprag, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = new Promise((resolve) => child.on('close', resolve));
  let told = '';
  for await (const part of child.stdout) {
    told += part;
    if (told.includes('operator ')) break;
  }
  const [, address] = told.match(/listening on (\S+)/) ?? [];
  if (!address) throw new Error(`the server did not start: ${told}`);
  return {
    url: `http://${address}`,
    stop: () => {
      child.kill('SIGTERM');
      return closed;
    },
  };
}

function start(program, args, options) {
  const child = begin(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { stdout: '', stderr: '', timedOut: false };
  child.stdout.on('data', (part) => { ended.stdout += part; });
  child.stderr.on('data', (part) => { ended.stderr += part; });
  const limit = setTimeout(() => {
    ended.timedOut = true;
    end(child);
  }, TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      resolve({ ...ended, code });
    });
  });
}

/** Everything that the guard judged, in order. */
function records(sprag, env) {
  if (!fs.existsSync(env.SPRAG_DB)) return [];
  const text = execFileSync(sprag, ['log', 'tail', '-n', '1000', '--json'], { env, encoding: 'utf8', maxBuffer: 1 << 28 });
  return text.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((record) => record.event);
}

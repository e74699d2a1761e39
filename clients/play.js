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

/** Where a client from the lock file is. */
export const clientPath = (program) => path.join(HERE, 'node_modules', '.bin', program);

/**
 * Plays `script` with `driver`. `sprag` is the binary, or null to let the client run unguarded; `overHttp` puts the guard
 * before an MCP server over HTTP, instead of into the client's hooks. Everything stays in
 * `folder`: the client's home with its transcripts, the project, the store, and what the model was asked.
 */
export async function play({ driver, name, script, folder, sprag, overHttp = false }) {
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
    (conversation) => next(conversation, script, {
      translate: (deed) => driver.call(deed, { project, marker }),
      finish: driver.finish,
    }),
    (request) => requests.push(request),
  );
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'xterm-256color',
    SPRAG_DB: path.join(folder, 'sprag.db'),
    // What a client downloads for itself is the same for every run.
    XDG_CACHE_HOME: path.join(HERE, 'node_modules', '.cache', driver.name),
  };
  let proxy;
  try {
    if (overHttp) proxy = await startProxy(sprag, env);
    driver.prepare({ home, project, model, put, catalog: proxy?.url ?? path.join(HERE, 'catalog.js') });
    if (sprag && !overHttp) {
      const args = ['install', driver.name, driver.scope, '--yes'];
      const out = execFileSync(sprag, args, { cwd: project, env, encoding: 'utf8' });
      put(path.join(folder, 'install.txt'), out);
    }
    const prompt = `Please do what has to be done. ${marker(name)}`;
    const { args, env: own } = driver.command({ prompt, model, home, guarded: Boolean(sprag) && !overHttp });
    const ended = await start(clientPath(driver.program), args, { cwd: project, env: { ...env, ...own } });
    put(path.join(folder, 'stdout.txt'), ended.stdout);
    put(path.join(folder, 'stderr.txt'), ended.stderr);
    put(path.join(folder, 'requests.jsonl'), requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    return { ...ended, requests, records: sprag ? records(sprag, env) : [] };
  } finally {
    proxy?.stop();
    await model.stop();
  }
}

/** The proxy before a catalog over HTTP. */
async function startProxy(sprag, env) {
  const catalog = await startCatalog();
  const child = spawn(sprag, ['mcp', '--listen', '127.0.0.1:0', '--upstream', catalog.url], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await new Promise((resolve) => { child.stdout.once('data', (part) => resolve(String(part))); });
  return {
    url: said.match(/http:\S+/)[0],
    stop: () => {
      child.kill();
      catalog.stop();
    },
  };
}

function start(program, args, options) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { stdout: '', stderr: '', timedOut: false };
  child.stdout.on('data', (part) => { ended.stdout += part; });
  child.stderr.on('data', (part) => { ended.stderr += part; });
  const limit = setTimeout(() => {
    ended.timedOut = true;
    child.kill('SIGKILL');
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

// Asks the recorded set with each SDK, straight and through the gateway, and compares what the SDKs made of it.
//
//   node compare.mjs SPRAG PYTHON

import { execFileSync, spawn } from 'node:child_process';

const [sprag, python] = process.argv.slice(2);
const children = [];
process.on('exit', () => children.forEach((child) => child.kill()));

/** Starts a program and returns the address that it prints first. */
async function start(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const said = await new Promise((resolve) => { child.stdout.once('data', (part) => resolve(String(part))); });
  return said.match(/http:\/\/[\d.:]+/)[0];
}

const upstream = await start(process.execPath, ['upstream.mjs']);
const upstreams = ['anthropic', 'openai', 'gemini'].flatMap((mount) => ['--upstream', `${mount}=${upstream}`]);
const gateway = await start(sprag, ['gateway', '--private', '--listen', '127.0.0.1:0', ...upstreams]);
const env = { PATH: process.env.PATH, HOME: process.env.HOME };
const ask = ([program, file], bases) => JSON.parse(execFileSync(program, [file, ...bases], { env, encoding: 'utf8', maxBuffer: 1 << 26 }));

let [asked, wrong] = [0, 0];
for (const [name, how] of [['Python', [python, 'ask.py']], ['Node', [process.execPath, 'ask.mjs']]]) {
  const straight = ask(how, [upstream, `${upstream}/v1`, upstream]);
  const through = ask(how, [`${gateway}/anthropic`, `${gateway}/openai/v1`, `${gateway}/gemini`]);
  for (const request of Object.keys(straight)) {
    asked += 1;
    const [one, two] = [straight, through].map((found) => JSON.stringify(found[request]));
    if (one === two && !one.includes('not recorded')) continue;
    wrong += 1;
    console.log(`${name}, ${request}:\n  straight ${one.slice(0, 600)}\n  through  ${two?.slice(0, 600)}`);
  }
}
console.log(`${asked} requests of six SDKs, ${wrong} differ through the gateway`);
process.exit(wrong > 0 ? 1 : 0);

// How long one hook takes, from the start of the process to its end: against the shared store, and through a server.
//
//   node speed.js BINARY [RUNS]
//
// `true` is the same loop around a program that does nothing: what starting any process costs here.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [binary, runs = '1000'] = process.argv.slice(2);
if (!binary) {
  console.error('which binary? node speed.js ../target/release/sprag');
  process.exit(2);
}
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'sprag-speed-'));
const env = { PATH: process.env.PATH, HOME: home, SPRAG_DB: path.join(home, 'sprag.db') };

const payload = (n) => JSON.stringify({
  hook_event_name: 'PreToolUse', session_id: `s${n % 7}`, transcript_path: 't', prompt_id: 'p', tool_name: 'Bash',
  tool_input: { command: `echo ${n}`, description: 'say a number' }, tool_use_id: `toolu_${String(n).padStart(20, '0')}`,
});

function measure(name, program, args) {
  const times = [];
  for (let n = 0; n < Number(runs); n += 1) {
    const input = payload(n);
    const began = process.hrtime.bigint();
    const { status } = spawnSync(program, args, { env, input });
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
    if (status !== 0) throw new Error(`${name} ended with ${status}`);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
  console.log(`${name.padEnd(8)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  (${runs} runs)`);
}

measure('true', 'true', []);
measure('store', binary, ['hook', '--client', 'claude']);
const server = spawn(binary, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
await new Promise((ready) => server.stdout.once('data', ready));
measure('server', binary, ['hook', '--client', 'claude']);
server.kill('SIGTERM');
await new Promise((ended) => server.once('close', ended));
fs.rmSync(home, { recursive: true, force: true });

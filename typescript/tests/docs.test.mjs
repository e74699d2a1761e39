// What docs/typescript.md states about frameworks is what the lock file holds, and its first lines run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { VERSION } from "sprag";
import { withGuards } from "./real-guard.mjs";

const PACKAGE = join(import.meta.dirname, "..");
const DOCS = join(PACKAGE, "../docs");
const { version, devDependencies, exports } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
const page = readFileSync(join(DOCS, "typescript.md"), "utf8");

test("the package has the version of the binary", () => {
  const [, workspace] = /^\[workspace\.package\][^[]*?^version = "(.*?)"/ms.exec(readFileSync(join(PACKAGE, "../Cargo.toml"), "utf8"));
  assert.deepEqual([version, VERSION], [workspace, workspace]);
});

test("the table names the versions of the lock file", () => {
  const rows = [...page.matchAll(/^\| \[.*?\]\((frameworks\/.*?)\) \| `(sprag\/.*?)` \| (.*?) (\S+) \|/gm)];
  assert.equal(rows.length, Object.keys(exports).length - 2);
  for (const [, file, entry, name, version] of rows) {
    assert.ok(existsSync(join(DOCS, file)), file);
    assert.ok(`.${entry.slice("sprag".length)}` in exports, entry);
    assert.equal(devDependencies[name], version);
  }
});

test("the first lines of the page and of the README run", withGuards(async (place) => {
  for (const text of [page, readFileSync(join(PACKAGE, "README.md"), "utf8")]) {
    const [, code] = /```(?:js|ts)\n(import .*?)```/s.exec(text);
    const program = code.replace("new Guard()", `new Guard({ db: ${JSON.stringify(place.db)} })`);
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: import.meta.dirname, encoding: "utf8" });
    assert.deepEqual([done.status, done.stderr], [0, ""]);
  }
}));

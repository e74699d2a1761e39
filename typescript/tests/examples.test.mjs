// The examples compile with `tsc --strict` against the frameworks' own types, run as they are, and the guard stops them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Api } from "./anthropic-api.mjs";
import { withGuards } from "./real-guard.mjs";

const PACKAGE = join(import.meta.dirname, "..");
const EXAMPLES = join(PACKAGE, "../examples/typescript");
const FRAMEWORK = process.env.FRAMEWORK;
const NAME = { undefined: "own_loop", ai: "ai_agent", langchain: "langchain_agent", "openai-agents": "openai_agents_agent", "claude-agent": "claude_agent" }[FRAMEWORK];

function run(args, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (out += chunk));
    child.once("close", (code) => resolve({ code, out }));
  });
}

test(`the example ${NAME} is short, compiles, and the guard stops it`, withGuards(async () => {
  assert.ok(readFileSync(join(EXAMPLES, `${NAME}.ts`), "utf8").split("\n").length <= 40);
  mkdirSync(join(PACKAGE, "lib"), { recursive: true });
  // Below the package, so that it finds the package by its name, and the frameworks.
  const folder = mkdtempSync(join(PACKAGE, "lib/example-"));
  try {
    cpSync(join(EXAMPLES, `${NAME}.ts`), join(folder, `${NAME}.ts`));
    const compilerOptions = { strict: true, module: "nodenext", target: "es2022", lib: ["es2024", "dom"], types: ["node"], skipLibCheck: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
    const compiled = await run([join(PACKAGE, "node_modules/typescript/bin/tsc"), "-p", folder]);
    assert.equal(compiled.out, "");
    const script = join(folder, `${NAME}.js`);
    if (FRAMEWORK === "claude-agent") return await stoppedClaude(script);
    const { code, out } = await run([script]);
    assert.equal(code, 0, out);
    assert.match(out, /sprag: session_killed: loop_detected, 3 deletes/);
  } finally {
    rmSync(folder, { recursive: true });
  }
}));

/** The SDK's result has no reason; that the third call did not run is what shows. */
async function stoppedClaude(script) {
  const call = ["mcp__catalog__delete_asset", { asset_id: "fact_sales" }];
  const api = await new Api(Array.from({ length: 10 }, () => [call])).start();
  const env = { ...process.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "dummy", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" };
  const { code, out } = await run([script], env);
  await api.close();
  assert.equal(code, 0, out);
  assert.equal(out.match(/deleting fact_sales/g).length, 2, out);
  assert.equal(api.requests, 3);
}

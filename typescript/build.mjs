// Builds lib/esm and lib/cjs from src: `node build.mjs`. Each gets its own declarations, so that `import` and `require`
// see types of their own kind.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const lib = join(root, "lib");
const tsc = join(root, "node_modules/typescript/bin/tsc");

rmSync(lib, { recursive: true, force: true });
for (const [kind, type] of [["esm", "module"], ["cjs", "commonjs"]]) {
  const src = join(lib, `${kind}-src`);
  cpSync(join(root, "src"), src, { recursive: true });
  if (kind === "cjs") copyFileSync(join(root, "here.commonjs.ts"), join(src, "here.ts"));
  mkdirSync(join(lib, kind));
  for (const folder of [src, join(lib, kind)]) writeFileSync(join(folder, "package.json"), `{ "type": "${type}" }\n`);
  writeFileSync(join(src, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { rootDir: ".", outDir: `../${kind}` }, include: ["."] }));
  execFileSync(process.execPath, [tsc, "-p", src], { stdio: "inherit" });
  rmSync(src, { recursive: true });
}
chmodSync(join(lib, "esm/cli.js"), 0o755);
// The command needs one copy.
for (const file of ["cli.js", "cli.d.ts"]) rmSync(join(lib, "cjs", file));

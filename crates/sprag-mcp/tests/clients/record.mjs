// Stands between a client and a server, changes nothing, and writes down what passes: one JSON line for
// each line, with who said it.
//
//   node record.mjs FILE COMMAND ARGUMENTS…
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [file, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const pass = (who, from, to) => {
  let held = Buffer.alloc(0);
  from.on("data", (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (let end; (end = held.indexOf(10)) >= 0; held = held.subarray(end + 1)) {
      appendFileSync(file, `${JSON.stringify([who, held.subarray(0, end).toString()])}\n`);
      to.write(held.subarray(0, end + 1));
    }
  });
  from.on("end", () => to.end());
};
pass("client", process.stdin, server.stdin);
pass("server", server.stdout, process.stdout);
server.on("exit", (code) => process.exit(code ?? 1));

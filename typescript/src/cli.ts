#!/usr/bin/env node
/** The `sprag` command: the binary of this package, with the same arguments, terminal and exit code. */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { binary } from "./place.js";

function main(): void {
  let path: string;
  try {
    path = binary();
  } catch (error) {
    console.error(`sprag: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
    return;
  }
  const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  // A terminal sends its signals to both; the child decides what they mean. Others are passed on.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    console.error(`sprag: ${path} can't be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}

main();

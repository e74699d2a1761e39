/**
 * Where the guard of this machine is: its binary, its store, its socket, its token.
 *
 * The same places as the `sprag` command uses. The binary comes from the package for this platform or from
 * `SPRAG_BIN`, never from PATH or the working folder: a program that an agent can put there would be the guard.
 */

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { SetupError } from "./errors.js";
import { here } from "./here.js";

/** The platforms that have a package with a binary. */
export const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** The `sprag` binary. Throws `SetupError` if neither `SPRAG_BIN` nor a package has one. */
export function binary(): string {
  const named = process.env["SPRAG_BIN"];
  if (named) {
    if (!isAbsolute(named)) throw new SetupError(`SPRAG_BIN must be an absolute path, not '${named}'`);
    if (!isProgram(named)) throw new SetupError(`SPRAG_BIN names ${named}, which is not a program`);
    return named;
  }
  const packaged = packagedBinary();
  if (packaged !== undefined) return packaged;
  throw new SetupError(missing());
}

/** What to do without a binary. */
function missing(): string {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    const other = process.platform === "win32" ? "use WSL, or " : "";
    return `sprag has no binary for ${platform}; ${other}build one and set SPRAG_BIN to its absolute path`;
  }
  return (
    `the package @sprag/cli-${platform} is not installed; install again without --omit=optional (--no-optional), ` +
    "or set SPRAG_BIN to the absolute path of a sprag binary"
  );
}

/** The binary in the package for this platform, as the installer put it beside this package. */
function packagedBinary(): string | undefined {
  const name = `@sprag/cli-${process.platform}-${process.arch}`;
  try {
    const path = join(dirname(createRequire(here).resolve(`${name}/package.json`)), "bin", "sprag");
    return isProgram(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The store that `sprag` would use; none if there is no home. */
export function storePath(db: string | undefined): string | undefined {
  const named = db ?? process.env["SPRAG_DB"];
  if (named) return named;
  const state = process.env["XDG_STATE_HOME"] ?? "";
  if (isAbsolute(state)) return join(state, "sprag", "sprag.db");
  const home = process.env["HOME"];
  return home ? join(home, ".local/state/sprag/sprag.db") : undefined;
}

/** The socket of the server that uses this store. */
export function socketPath(socket: string | undefined, db: string | undefined, store: string): string {
  const named = socket ?? process.env["SPRAG_SOCKET"];
  if (named) return named;
  const runtime = process.env["XDG_RUNTIME_DIR"] ?? "";
  const isNamed = db !== undefined || Boolean(process.env["SPRAG_DB"]);
  return isAbsolute(runtime) && !isNamed ? join(runtime, "sprag.sock") : `${store}.sock`;
}

/** The token with which programs of this user prove that they are not an agent. */
export function hookToken(store: string): string | undefined {
  try {
    const token = readFileSync(join(dirname(store), "hook.token"), "utf8").trim();
    return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a socket is there. Throws `SetupError` if it belongs to another user: whoever listens there could answer
 * anything. Node can't ask who listens, so the owner of the file is looked at again before each connection.
 */
export function ownSocket(path: string): boolean {
  let info;
  try {
    info = statSync(path);
  } catch {
    return false;
  }
  if (!info.isSocket()) return false;
  const me = process.geteuid?.();
  if (me !== undefined && info.uid !== me) {
    throw new SetupError(
      `the socket ${path} belongs to user ${info.uid}, not to you (user ${me}), and is not used; ` +
        "name another one with socket or SPRAG_SOCKET",
    );
  }
  return true;
}

// The ways to a guard, and what happens when one of them goes away.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Guard, NoVerdict, SetupError } from "sprag";
import { BINARY, withGuards } from "./real-guard.mjs";

const roles = (records) => [...new Set(records.map((record) => record.sender.role))];
const calls = (records) => records.filter((record) => record.event.type === "call");

test("a running server is used over its socket, as a hook", withGuards(async (place) => {
  await place.serve();
  const guard = await place.guard().ready();
  assert.equal(guard.way, "socket");
  assert.equal((await guard.session("s1").heard("hello")).decision, "allow");
  assert.ok((await guard.session("s1").call("read")).verdict.checked);
  assert.deepEqual(roles(await place.records()), ["hook"]);
}));

test("without a server a child uses the same store", withGuards(async (place) => {
  const first = await place.guard().ready();
  assert.equal(first.way, "child");
  await first.session("s1").heard("hello");
  for (let count = 0; count < 2; count++) await first.session("s1").call("delete_asset", { asset_id: "a" });
  await first.close();
  assert.ok((await place.guard().session("s1").call("delete_asset", { asset_id: "a" })).refused);
  assert.deepEqual(roles(await place.records()), ["hook"]);
}));

test("a server that goes and comes back loses no event", withGuards(async (place) => {
  const server = await place.serve();
  const guard = place.guard({ fail: "closed" });
  const session = guard.session("s1");
  for (let number = 0; number < 30; number++) {
    if (number === 10) await server.stop();
    if (number === 20) await place.serve();
    assert.ok((await session.call("read", { number })).verdict.checked);
  }
  assert.equal(guard.failures, 0);
  assert.equal(calls(await place.records()).length, 30);
}));

test("a remote guard takes a token of role hook and no other", withGuards(async (place) => {
  const server = await place.serve();
  const { url } = server;
  assert.ok((await place.guard({ url, token: await server.token("hook") }).session("s1").heard("hello")).checked);
  const wrong = (token) => place.guard({ url, token }).session("s1").call("read");
  await assert.rejects(wrong(await server.token("operator")), /must not hold an operator's/);
  await assert.rejects(wrong(await server.token("agent")), /takes this program for role 'agent'/);
  await assert.rejects(place.guard({ url, token: "sprag_wrong" }).ready(), (error) => error instanceof SetupError && /refused the token/.test(error.message));
}));

for (const fail of ["open", "closed"]) {
  test(`a guard that is away is counted and logged once (${fail})`, withGuards(async (place) => {
    const server = await place.serve();
    const lines = [];
    const guard = place.guard({ url: server.url, token: await server.token("hook"), fail, log: (line) => lines.push(line) });
    const session = guard.session("s1");
    assert.equal((await session.call("read")).refused, false);
    await server.stop();
    for (let number = 0; number < 5; number++) {
      const call = await session.call("read", { number });
      assert.equal(call.refused, fail === "closed");
      assert.equal(call.verdict.checked, false);
    }
    assert.equal((await session.step("late")).decision, "allow");
    assert.equal(guard.failures, 6);
    assert.equal(lines.length, 1);
    assert.match(lines[0], /no verdict from the guard/);
    await assert.rejects(guard.check({ type: "call", session: "s1", tool: "read" }), NoVerdict);
  }));
}

test("a session that was killed stays so while the guard is away", withGuards(async (place) => {
  const server = await place.serve();
  const guard = place.guard({ url: server.url, token: await server.token("hook"), log: () => undefined });
  const session = guard.session("s1");
  for (let count = 0; count < 3; count++) await session.call("delete_asset", { asset_id: "a" });
  await server.stop();
  assert.equal((await session.call("read")).verdict.decision, "kill");
  assert.equal((await guard.session("s2").call("read")).refused, false);
}));

test("a child that dies is started again and nothing is lost", withGuards(async (place) => {
  const guard = place.guard({ fail: "closed" });
  const session = guard.session("s1");
  for (let number = 0; number < 5; number++) {
    assert.ok((await session.call("read", { number })).verdict.checked);
    process.kill(guard.process.pid, "SIGKILL");
  }
  assert.equal(guard.process.starts, 5);
  assert.equal((await place.records()).length, 5);
}));

test("a child that hangs is replaced after the timeout", withGuards(async (place) => {
  const guard = place.guard({ timeoutMs: 300, log: () => undefined });
  const session = guard.session("s1");
  assert.ok((await session.call("read")).verdict.checked);
  process.kill(guard.process.pid, "SIGSTOP");
  assert.equal((await session.call("read")).verdict.checked, false);
  assert.ok((await session.call("read")).verdict.checked);
  assert.equal(guard.failures, 1);
}));

test("a child that can't work says why", withGuards(async (place) => {
  const policy = join(place.folder, "missing.toml");
  const call = await place.guard({ policy, fail: "closed", log: () => undefined }).session("s1").call("read");
  assert.ok(call.refused && call.message.includes(policy), call.message);
}));

test("the binary comes from SPRAG_BIN and never from PATH or the working folder", withGuards(async (place) => {
  symlinkSync(BINARY, join(place.folder, "sprag"));
  const { PATH, SPRAG_BIN } = process.env;
  const folder = process.cwd();
  try {
    process.chdir(place.folder);
    process.env.PATH = `${place.folder}:${PATH}`;
    delete process.env.SPRAG_BIN;
    assert.throws(() => Guard.inMemory(), /@sprag\/cli-.* is not installed/);
    process.env.SPRAG_BIN = "sprag";
    assert.throws(() => Guard.inMemory(), /absolute path/);
    process.env.SPRAG_BIN = join(place.folder, "gone");
    assert.throws(() => Guard.inMemory(), /not a program/);
  } finally {
    process.chdir(folder);
    Object.assign(process.env, { PATH, SPRAG_BIN });
  }
}));

test("another version is one clear error", withGuards(async (place) => {
  const fake = join(place.folder, "fake");
  writeFileSync(fake, "#!/bin/sh\necho sprag 7.3.0\n", { mode: 0o755 });
  const server = createServer((socket) => socket.once("data", () => {
    const body = JSON.stringify({ version: "7.3.0", role: "hook" });
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  }));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { SPRAG_BIN } = process.env;
  try {
    const url = `http://127.0.0.1:${server.address().port}`;
    const text = /7\.3\.0, this package is \d+\.\d+\.\d+; install the same version of both/;
    await assert.rejects(place.guard({ url }).session("s1").call("read"), text);
    process.env.SPRAG_BIN = fake;
    for (const guard of [place.keep(Guard.inMemory()), place.guard()]) {
      await assert.rejects(guard.ready(), text);
      await assert.rejects(guard.session("s1").call("read"), (error) => error instanceof SetupError && text.test(error.message));
    }
  } finally {
    process.env.SPRAG_BIN = SPRAG_BIN;
    server.close();
  }
}));

test("a question before the server's first token was made is asked again with it", withGuards(async (place) => {
  const asked = [];
  const server = createHttpServer((request, response) => {
    const token = request.headers.authorization;
    asked.push(`${request.url} ${token}`);
    writeFileSync(join(dirname(place.db), "hook.token"), "first");
    const version = execFileSync(BINARY, ["--version"]).toString().trim().split(" ")[1];
    response.end(JSON.stringify(request.url === "/v1/me" ? { version, role: token ? "hook" : "agent" } : { verdict: "allow" }));
  });
  const socket = join(place.folder, "first.sock");
  await new Promise((resolve) => server.listen(socket, resolve));
  try {
    assert.equal((await place.guard({ socket }).session("s1").call("read")).verdict.decision, "allow");
    assert.deepEqual(asked, ["/v1/me undefined", "/v1/me Bearer first", "/v1/check Bearer first"]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}));

test("a socket of another user is refused", withGuards(async (place) => {
  const path = join(place.folder, "other.sock");
  const listener = createServer();
  await new Promise((resolve) => listener.listen(path, resolve));
  const me = process.geteuid();
  const geteuid = process.geteuid;
  try {
    const guard = place.guard({ socket: path, fail: "closed" });
    process.geteuid = () => me + 1;
    assert.throws(() => place.guard({ socket: path }), new RegExp(`belongs to user ${me}, not to you`));
    // Also if the file was exchanged after the first look at its owner.
    await assert.rejects(guard.session("s1").call("read"), /belongs to user/);
  } finally {
    process.geteuid = geteuid;
    listener.close();
  }
}));

test("a file that is not a socket is not asked", withGuards(async (place) => {
  const socket = join(place.folder, "file.sock");
  writeFileSync(socket, "x");
  assert.equal(place.guard({ socket }).way, "child");
}));

test("a socket that a server left behind is not waited for", withGuards(async (place) => {
  const server = await place.serve();
  server.process.kill("SIGKILL");
  await server.ended;
  assert.ok(existsSync(`${place.db}.sock`));
  const guard = place.guard({ fail: "closed" });
  assert.ok((await guard.session("s1").call("read")).verdict.checked);
  assert.equal(guard.way, "child");
}));

for (const how of ["end", "kill"]) {
  test(`no child outlives its program, and none keeps it from ending (${how})`, withGuards(async (place) => {
    const program = `
      import { Guard } from "sprag";
      const guard = new Guard({ db: process.argv[1] });
      await guard.session("s1").call("read");
      console.log(guard.process.pid);
      if (process.argv[2] === "kill") process.kill(process.pid, "SIGKILL");`;
    const args = ["--input-type=module", "-e", program, place.db, how];
    const done = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8", timeout: 60_000 });
    assert.equal(done.stderr, "");
    assert.equal(done.signal, how === "kill" ? "SIGKILL" : null);
    const pid = Number(done.stdout);
    for (const deadline = Date.now() + 20_000; lives(pid) && Date.now() < deadline; ) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(lives(pid), false);
  }));
}

function lives(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1).trim().startsWith("Z");
  } catch {
    return false;
  }
}

test("a closed guard opens again", withGuards(async (place) => {
  const guard = place.keep(Guard.inMemory());
  await guard.close();
  assert.ok((await guard.session("s").call("read")).verdict.checked);
  await guard.close();
  assert.ok((await guard.session("s").call("read")).verdict.checked);
}));

test("require gets the same package as import, with the same session around it", withGuards(async () => {
  const program = `
    const { Guard } = require("sprag");
    import("sprag").then(async (esm) => {
      const guard = Guard.inMemory();
      const session = guard.session("s1");
      const call = await session.run(() => guard.call("read"));
      if (call.refused || esm.VERSION !== require("sprag").VERSION) process.exitCode = 1;
    });`;
  execFileSync(process.execPath, ["--input-type=commonjs", "-e", program], { cwd: import.meta.dirname, timeout: 60_000 });
}));

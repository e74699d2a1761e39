// Servers behind this one: a page of theirs is never a page of ours.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, SpragServer, test } from "../sprag_server.ts";

/** A page that takes what it can get, and says what it got. */
const PAGE = `<!doctype html><title>quiet</title><script>
  document.title = "ran";
  fetch("/v1/pause", { method: "POST", body: JSON.stringify({ for: "1h", why: "stolen", token: sessionStorage.length }) });
</script>`;

test("a page of a server behind can't run in the name of the dashboard", async ({ browser }) => {
  const cookies: string[] = [];
  const upstream = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.setHeader("set-cookie", "sprag_operator=forged");
    response.setHeader("access-control-allow-origin", "*");
    response.end(PAGE);
  });
  await new Promise<void>((ready) => upstream.listen(0, "127.0.0.1", ready));
  const behind = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const server = new SpragServer(["--upstream", behind]);
  const config = join(server.folder, "mcp.toml");
  writeFileSync(config, `[[upstream]]\nurl = "${behind}/catalog"\n`);
  server.add("--mcp-config", config);
  await server.start();
  const context = await browser.newContext();
  const page = await context.newPage();
  await server.open(page);
  const held = await context.cookies();
  for (const path of ["/mcp/catalog", "/api/sessions/2"]) {
    await page.goto(server.url + path);
    // The page did arrive; its script did not run.
    expect(await page.title()).toBe("quiet");
    expect(await page.content()).toContain("stolen");
  }
  expect(await server.get("/v1/pause")).toMatchObject({ paused: false });
  expect(await context.cookies()).toEqual(held);
  expect(cookies.join()).not.toContain("sprag");
  await context.close();
  await server.end();
  upstream.close();
});

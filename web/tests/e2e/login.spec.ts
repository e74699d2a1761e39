// How an operator gets in, and how nobody else does: in a real browser, against the real server.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { cleanUpLoop } from "../traffic.ts";
import { SpragServer, expect, test } from "../sprag_server.ts";

/** The tokens that a page holds. */
const stored = (page: Page) => page.evaluate(() => Object.values(sessionStorage).filter((value) => String(value).includes("sprag_")));

test("the printed link opens the dashboard, and its code stays neither in the address nor in the history", async ({ page, server }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const code = new URL(server.link).hash.slice("#code=".length);
  expect(code).toMatch(/^[0-9a-f]{32}$/);
  await page.goto(server.link);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  expect(page.url()).toBe(`${server.url}/`);
  expect(asked.filter((url) => url.includes(code) && !url.includes("#"))).toEqual([]);
  expect(await page.evaluate(() => [document.cookie, Object.keys(localStorage).filter((key) => key.includes("token"))])).toEqual(["", []]);
  expect((await page.context().cookies()).length).toBe(0);
  expect((await stored(page)).length).toBe(1);
  await page.reload();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
});

test("a link that is pasted into a tab with the login page opens the dashboard too", async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByLabel("Token")).toBeVisible();
  await page.goto(server.link);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  expect(page.url()).toBe(`${server.url}/`);
});

test("a stolen link that was used before opens nothing, and says so", async ({ browser, page, server }) => {
  await page.goto(server.link);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  const thief = await (await browser.newContext()).newPage();
  await thief.goto(server.link);
  await expect(thief.getByRole("alert")).toContainText("this link was used before or is older than 60 seconds");
  await expect(thief.getByLabel("Token")).toBeVisible();
  expect(thief.url()).not.toContain("code");
  expect(await stored(thief)).toEqual([]);
  await thief.context().close();
});

test("an operator token in the address, as older links had it, opens nothing", async ({ page, server }) => {
  await page.goto(`${server.url}/?token=${server.token}`);
  await expect(page.getByLabel("Token")).toBeVisible();
});

/** A page that an agent serves on another port of the same host. */
async function otherPort(): Promise<{ url: string; seen: string[]; server: Server }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>other</title>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

test("a page on another port of the same host gets no token and can order nothing", async ({ page, server }) => {
  await server.tell(cleanUpLoop("stopped"));
  await page.goto(server.link);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  const other = await otherPort();
  try {
    await page.goto(other.url);
    expect(await stored(page)).toEqual([]);
    const statuses = await page.evaluate(async (base) => {
      const tried: (number | string)[] = [];
      const send = async (path: string, options: RequestInit) => {
        try {
          tried.push((await fetch(base + path, { credentials: "include", ...options })).status);
        } catch {
          tried.push("refused");
        }
      };
      await send("/v1/sessions", {});
      await send("/v1/sessions/stopped/reset", { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body: '{"why":"mine"}' });
      await send("/v1/login", { method: "POST", mode: "no-cors", body: '{"code":"guess"}' });
      return tried;
    }, server.url);
    // The browser lets the page see nothing: neither a status nor a body.
    expect(statuses).toEqual(["refused", "refused", "refused"]);
    expect(other.seen.join()).not.toContain("cookie");
    expect(other.seen.join()).not.toContain("sprag_");
    expect(((await server.get("/v1/sessions/stopped")) as { state: string }).state).toBe("killed");
  } finally {
    other.server.close();
  }
});

test("a token that is revoked in the list of tokens logs its dashboard out", async ({ page, server }) => {
  await page.goto(server.link);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  const [token] = await stored(page);
  const answer = await fetch(`${server.url}/v1/login`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(204);
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await expect(page.getByLabel("Token", { exact: true })).toBeVisible();
  expect(await stored(page)).toEqual([]);
});

test("the demo opens by a click on the link that it prints", async ({ page }) => {
  const demo = new SpragServer(["--demo"]);
  await demo.start();
  try {
    await page.goto(demo.link);
    await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
    await expect(page.getByText("Live", { exact: true })).toBeVisible();
  } finally {
    await demo.end();
  }
});

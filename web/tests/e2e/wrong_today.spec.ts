// Each of these was wrong once: the test is named after it.
import { honest } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

test("an unknown address shows a page to a browser and a problem to a program", async ({ page, server }) => {
  const told = await fetch(`${server.url}/whatever`);
  expect([told.status, told.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  const answer = await page.request.get(`${server.url}/whatever`, { headers: { accept: "text/html" } });
  expect([answer.status(), answer.headers()["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
});

test("a lost connection has no green dot", async ({ page, server }) => {
  await server.open(page);
  const dot = page.getByRole("status").filter({ hasText: /Live|Disconnected|Connecting/ }).locator(".dot");
  const colour = () => dot.evaluate((node) => getComputedStyle(node).backgroundColor);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  const live = await colour();
  await server.stop();
  await expect(page.getByText("Disconnected").first()).toBeVisible();
  expect(await colour()).not.toBe(live);
});

test("the log holds still under a reader who scrolled, and says what is new", async ({ page, server }) => {
  await server.tellMany(honest("old", "coder", 120));
  await server.open(page, "/log");
  const rows = page.getByRole("rowgroup", { name: /records, newest first/ });
  await rows.evaluate((node) => node.scrollTo(0, 2000));
  const shown = () => rows.getByRole("row").filter({ visible: true }).nth(10).innerText();
  await expect(rows.getByRole("row").first()).not.toContainText("used");
  const before = await shown();
  await server.tellMany(honest("new", "coder", 3));
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toBeVisible();
  expect(await shown()).toBe(before);
  await page.getByRole("button", { name: /^\d+ new$/ }).click();
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toHaveCount(0);
});

test("at 390 px every action of the session list is on the screen", async ({ browser, server }) => {
  await server.tellMany(honest("phone", "coder", 3));
  const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await server.open(page, "/sessions");
  const box = await page.getByRole("button", { name: "Kill phone" }).boundingBox();
  expect(box && box.x + box.width <= 390).toBe(true);
  await page.context().close();
});

test("a policy with an override is not shown as all defaults, and rules show no backticks", async ({ page, server }) => {
  await server.put("/v1/policy", { text: '[[override]]\nagent = "night"\nflow.max_depth = 2\n', why: "test" });
  await server.open(page, "/policy");
  await expect(page.getByText("1 override sets others for some agents or sessions.")).toBeVisible();
  await expect(page.getByRole("main").getByText("`")).toHaveCount(0);
});

import { cleanUpLoop, honest, worked } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

test("two browsers see the same", async ({ browser, server }) => {
  const pages = await Promise.all([1, 2].map(async () => (await browser.newContext()).newPage()));
  for (const page of pages) await server.open(page);
  await server.tell(cleanUpLoop("both-see-me"));
  for (const page of pages) await expect(page.getByRole("region", { name: "Stopped now" }).getByText("both-see-me")).toBeVisible();
  const [one, two] = pages;
  await one?.getByRole("button", { name: "Reset…" }).click();
  await one?.getByRole("dialog").getByRole("textbox").fill("repaired");
  await one?.getByRole("button", { name: "Reset it" }).click();
  await expect(two?.getByText("Nobody is stopped") ?? one!.locator("never")).toBeVisible();
  for (const page of pages) await page.context().close();
});

test("the server is restarted under an open page, which says so and catches up", async ({ page, server }) => {
  await server.tell(worked("before", "coder", "files", "read_file", { path: "a" }, "text"));
  await server.open(page);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await server.stop();
  await expect(page.getByRole("alert")).toContainText("Disconnected from the server");
  await server.start();
  await server.tell(cleanUpLoop("while-away"));
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Stopped now" }).getByText("while-away")).toBeVisible();
});

test("an open replay grows with its session, also over a restart", async ({ page, server }) => {
  await server.tell(honest("grows", "coder", 3));
  await server.open(page, "/sessions/grows");
  const slider = page.getByRole("slider", { name: "Place in the session" });
  await expect(slider).toHaveAttribute("max", "7");
  await server.tell(worked("grows", "coder", "files", "read_file", { path: "new" }, "new"));
  await expect(slider).toHaveAttribute("max", "9");
  await server.stop();
  await server.start();
  await server.tell(worked("grows", "coder", "files", "read_file", { path: "newer" }, "newer"));
  await expect(slider).toHaveAttribute("max", "11");
});

test("a stranger gets the login page, a wrong token is refused, the right one opens", async ({ page, server }) => {
  await page.goto(`${server.url}/sessions`);
  const token = page.getByLabel("Token");
  await token.fill("not-it");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("This is not the token of an operator or a viewer");
  await token.fill(server.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Sessions" })).toBeVisible();
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(token).toBeVisible();
});

import { readFileSync } from "node:fs";
import { flowOfHelpers } from "../traffic.ts";
import { expect, test } from "../sprag_server.ts";

test("a policy change is validated, tried on what happened, applied, and stands in the history", async ({ page, server }) => {
  await server.tell(flowOfHelpers("release"));
  await server.open(page, "/policy?tab=edit");
  const editor = page.getByRole("textbox", { name: "Policy as TOML" });

  await editor.fill("[flow]\nmax_dept = 3\n");
  await expect(page.getByText(/Line 2: /)).toBeVisible();
  await expect(page.getByRole("button", { name: "Apply…" })).toBeDisabled();

  await editor.fill("[flow]\nmax_depth = 3\n");
  await expect(page.getByText("Valid", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Try on the last 24 h" }).click();
  const trial = page.getByRole("region", { name: "Trial" });
  await expect(trial.getByText(/would change/)).toBeVisible();

  await page.getByRole("button", { name: "Apply…" }).click();
  const dialog = page.getByRole("dialog", { name: "Put this policy in force?" });
  await dialog.getByRole("textbox").fill("Nobody needs four levels");
  await dialog.getByRole("button", { name: "Apply it" }).click();
  await expect(page.getByText("The new policy is in force.")).toBeVisible();
  expect(readFileSync(server.policy, "utf8")).toContain("max_depth = 3");

  await page.getByText("History", { exact: true }).click();
  await expect(page.getByText("Nobody needs four levels")).toBeVisible();
  await page.getByText("In force", { exact: true }).click();
  await expect(page.getByText("default 5", { exact: true }).first()).toBeVisible();
});

test("a policy that changed meanwhile is not overwritten unseen", async ({ browser, page, server }) => {
  await server.open(page, "/policy?tab=edit");
  await page.getByRole("textbox", { name: "Policy as TOML" }).fill("[flow]\nmax_depth = 4\n");
  await expect(page.getByText("Valid", { exact: true })).toBeVisible();

  const other = await (await browser.newContext()).newPage();
  await server.open(other, "/policy?tab=edit");
  await other.getByRole("textbox", { name: "Policy as TOML" }).fill("[flow]\nmax_depth = 7\n");
  await other.getByRole("button", { name: "Apply…" }).click();
  await other.getByRole("dialog").getByRole("textbox").fill("first");
  await other.getByRole("button", { name: "Apply it" }).click();
  await expect(other.getByText("The new policy is in force.")).toBeVisible();

  await expect(page.getByRole("alert")).toContainText("The policy changed while you were editing");
  await expect(page.getByRole("button", { name: "Apply…" })).toBeDisabled();
  expect(readFileSync(server.policy, "utf8")).toContain("max_depth = 7");
  await other.context().close();
});

test("a pause is told on every page and can be ended", async ({ page, server }) => {
  await server.open(page, "/policy");
  await page.getByRole("button", { name: "Pause…" }).click();
  const dialog = page.getByRole("dialog", { name: "Pause every rule?" });
  await dialog.getByRole("textbox").fill("A drill");
  await dialog.getByRole("button", { name: "Pause for 1h" }).click();
  await expect(page.getByText("No rule stops anything until")).toBeVisible();
  await page.getByRole("link", { name: "Log" }).click();
  await page.getByRole("button", { name: "Resume now" }).click();
  await expect(page.getByText("No rule stops anything until")).toHaveCount(0);
});

// Groups of stops, orders to many, and stops that were wrong, in the real browser against the real server.
import { expect, test } from "../sprag_server.ts";
import { cleanUpLoop, honest } from "../traffic.ts";

test("equal stops are one row, and the whole group is reset", async ({ page, server }) => {
  for (const n of [1, 2, 3]) await server.tellMany(cleanUpLoop(`nightly-${n}`));
  await server.open(page, "/stops");
  const group = page.getByRole("row").filter({ hasText: "destructive.volume" });
  await expect(group).toHaveCount(1);
  await expect(group.getByRole("cell", { name: "3", exact: true })).toHaveCount(2);
  await expect(group).toContainText("3 still stopped");
  await group.getByRole("button", { name: /Reset all….*3 sessions/ }).click();
  await page.getByRole("textbox", { name: /Why/ }).fill("The catalogue was down");
  await page.getByRole("button", { name: "Reset them" }).click();
  await expect(page.getByText("3 sessions reset.")).toBeVisible();
  await expect(group).not.toContainText("still stopped");
});

test("a stop that happens while one looks appears without a reload", async ({ page, server }) => {
  await server.open(page, "/stops");
  await expect(page.getByText("Nothing was stopped in this time")).toBeVisible();
  await server.tellMany(cleanUpLoop("tonight"));
  await expect(page.getByRole("row").filter({ hasText: "destructive.volume" })).toBeVisible();
});

test("selected sessions are killed and exported together", async ({ page, server }) => {
  for (const n of [1, 2]) await server.tellMany(honest(`worker-${n}`, "coder", 2));
  await server.open(page, "/sessions");
  for (const n of [1, 2]) await page.getByRole("checkbox", { name: `Select worker-${n}` }).check();
  const selection = page.getByRole("region", { name: "Selection" });
  await expect(selection).toContainText("2 sessions selected");
  const saved = page.waitForEvent("download");
  await selection.getByRole("button", { name: "Export" }).click();
  expect((await saved).suggestedFilename()).toBe("sprag-sessions.jsonl");
  await selection.getByRole("button", { name: "Kill…" }).click();
  await page.getByRole("textbox", { name: /Why/ }).fill("Not needed any more");
  await page.getByRole("button", { name: "Kill them" }).click();
  await expect(page.getByText("2 sessions killed.")).toBeVisible();
  await expect(page.getByRole("table", { name: "Sessions" }).getByText("killed")).toHaveCount(2);
});

test("a wrong stop is reset, kept, and answered with an override that can be applied", async ({ page, server }) => {
  await server.tellMany(cleanUpLoop("nightly-cleanup"));
  await server.open(page, "/sessions/nightly-cleanup");
  await page.getByRole("button", { name: "This stop was wrong…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: /Why was it wrong/ }).fill("The asset comes back by itself");
  await dialog.getByRole("button", { name: "It was wrong" }).click();
  await expect(dialog).toContainText("the session may go on");
  await expect(dialog.locator("pre")).toContainText('agent = "cleaner"');
  await expect(dialog).toContainText("On what happened in the last 24 hours it changes");
  await dialog.getByRole("button", { name: "Apply the override" }).click();
  await expect(page.getByText(/The override is in force/)).toBeVisible();
  await expect(page.getByText("active").first()).toBeVisible();
  const { items } = (await server.get("/v1/cases")) as { items: { case: string; by: string }[] };
  expect(items).toHaveLength(1);
  expect(await server.get(`/v1/cases/${items[0]?.case}`)).toMatchObject({ passes: true });
});

test("a hint is put into the policy's editor, and nothing is applied by itself", async ({ page, server }) => {
  await server.open(page, `/policy?${new URLSearchParams({ tab: "edit", hint: "sprag policy set flow.max_depth 7" })}`);
  await expect(page.getByRole("textbox", { name: "Policy as TOML" })).toHaveValue(/max_depth = 7/);
  await expect(page).not.toHaveURL(/hint/);
  expect(await server.get("/v1/policy")).toMatchObject({ file_text: "" });
});

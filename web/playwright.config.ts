// One runner for everything: plain logic, the real browser against the real server, and the pictures.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "tests",
  outputDir: "node_modules/.playwright",
  // How long a busy machine takes says nothing about the page.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  fullyParallel: true,
  // Each test runs a server and a browser of its own; two at a time is what a small machine takes.
  workers: 2,
  forbidOnly: process.env["CI"] === "true",
  reporter: "list",
  use: {
    // What never comes is named after a minute, not waited for until the test's time is up.
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env["SPRAG_CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    },
  },
  projects: [
    { name: "unit", testDir: "tests/unit" },
    { name: "e2e", testDir: "tests/e2e" },
    { name: "figures", testDir: "tests/figures", workers: 1 },
    { name: "screenshots", testDir: "tests/screenshots", workers: 1 },
  ],
});

import { expect, test } from "@playwright/test";
import { allowFor, program } from "../../src/approvals/allow.ts";
import { readValues } from "../../src/policy/toml_text.ts";

test("a command is its program and subcommand", () => {
  expect(["git push --force origin main", "rm -rf build", "kubectl delete pod x", "make", ""].map(program)).toEqual(["git push", "rm", "kubectl delete", "make", ""]);
});

test("allowing from now on adds one override and keeps the rest of the policy", () => {
  const before = "# ours\n[flow]\nmax_depth = 3";
  const after = allowFor(before, 'clean"er', "git push origin");
  expect(after.startsWith(before)).toBe(true);
  expect(allowFor(after, 'clean"er', "git push other")).toBe(after);
  const { values, overrides } = readValues(allowFor("", "cleaner", "git push"));
  expect(values.size).toBe(0);
  expect(overrides).toHaveLength(1);
  expect(overrides[0]?.get("destructive.allow")).toEqual(["git push"]);
});

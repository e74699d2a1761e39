//! What `--help` of the policy commands shows.

pub(crate) const POLICY: &str = "\
Examples:
  sprag policy check
  sprag policy set destructive.max_calls 50 --agent bulk-cleaner
  sprag policy set 'flow.*' shadow
  sprag policy show --agent bulk-cleaner";

pub(crate) const POLICY_CHECK: &str = "\
Examples:
  sprag policy check
  sprag policy check team.toml

Exit code: 0 if it is right; 1 if it is wrong; 2 if it can't be read.";

pub(crate) const POLICY_SHOW: &str = "\
With --agent or --session the overrides for them are merged in, as the engine does it.

Examples:
  sprag policy show
  sprag policy show --agent bulk-cleaner --session s1";

pub(crate) const POLICY_SCHEMA: &str = "\
Examples:
  sprag policy schema > sprag.schema.json
  echo '#:schema ./sprag.schema.json' > policy.toml    editors then complete and check it";

pub(crate) const POLICY_IMPORT: &str = "\
The policy goes to standard output, what became of each key to standard error.

Examples:
  sprag policy import .caco/recursion-limits.json
  sprag policy import settings.json > policy.toml
  sprag policy import .caco/recursion-limits.json --session coder-1 >> policy.toml";

pub(crate) const POLICY_SET: &str = "\
The file is checked as a whole before it is written, and is created where there is none. A change
for an agent or a session goes into its [[override]]; both may be globs.

Examples:
  sprag policy set flow.max_depth 6
  sprag policy set flow.max_duration 30m
  sprag policy set access.deny '[\"shell/*\", \"rm_*\"]'
  sprag policy set progress.stagnation '{ warn = 5, block = 10 }'
  sprag policy set flow.revisits enforce
  sprag policy set 'destructive.*' shadow
  sprag policy set destructive.max_calls 50 --agent 'bulk-*'

`sprag rules` shows the keys in force, `sprag explain RULE` what they do.";

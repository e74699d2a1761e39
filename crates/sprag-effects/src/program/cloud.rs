//! CLIs of clouds, hosters and infrastructure tools: a verb, and the thing it is for.
//!
//! They differ in everything but this: somewhere among their first words stand a verb that deletes and a
//! noun that names what. Verb and noun decide; the words come from [`noun`].

use sprag_core::{Reach, Verb};

use super::noun::{self, NounReach};
use super::{add, add_replaceable, bucket, hoster, infrastructure};
use crate::args::Args;
use crate::expand::Field;
use crate::scratch::is_test_name;
use crate::walk::Walker;

/// CLIs with a noun and a verb.
#[rustfmt::skip]
const CLIS: [&str; 77] = [
    "aws", "gcloud", "az", "gsutil", "doctl", "hcloud", "linode-cli", "ibmcloud", "oci", "scw",
    "vultr-cli", "neonctl", "neon", "pscale", "turso", "wrangler", "firebase", "netlify",
    "render", "eksctl", "kops", "velero", "gh", "glab", "fly", "flyctl", "heroku", "railway",
    "vercel", "supabase", "s3cmd", "mc", "restic", "borg", "influx", "vault", "consul", "nomad",
    "packer", "sam", "serverless", "sls", "amplify", "eb", "copilot", "civo", "exo", "upctl",
    "openstack", "nova", "kind", "minikube", "k3d", "ccloud", "confluent", "upstash", "convex",
    "appwrite", "atlas", "cf", "temporal", "rabbitmqadmin", "rabbitmqctl", "s5cmd", "b2",
    "argocd", "flux", "vagrant", "multipass", "limactl", "colima", "lxc", "incus", "qm", "pct",
    "kafka-topics", "kafka-topics.sh",
];

/// Verbs that delete.
#[rustfmt::skip]
const VERBS: [&str; 22] = [
    "delete", "destroy", "terminate", "remove", "rm", "rb", "uninstall", "purge", "wipe", "drop",
    "teardown", "deprovision", "erase", "del", "down", "nuke", "decommission", "forget",
    "release", "prune", "reset", "undeploy",
];

/// Verbs that delete nothing: what follows one is a name, whatever it is called.
#[rustfmt::skip]
const OTHER_VERBS: [&str; 28] = [
    "call", "describe", "get", "list", "ls", "show", "invoke", "create", "update", "add", "set",
    "start", "stop", "restart", "view", "open", "status", "export", "exec", "connect", "scale",
    "rename", "apply", "read", "inspect", "watch", "enable", "disable",
];

/// Options that take a value.
#[rustfmt::skip]
const VALUED: [&str; 26] = [
    "-a", "--app", "--region", "--profile", "--project", "-p", "-g", "--resource-group", "-n",
    "--name", "--zone", "--output", "-o", "--query", "-r", "--repo", "-R", "-t", "-e", "--env",
    "--environment", "--subscription", "--account", "--cluster", "-s", "--service",
];

/// Options without a value; what follows any other may be its value.
#[rustfmt::skip]
const FLAGS: [&str; 17] = [
    "-y", "--yes", "-q", "--quiet", "-f", "--force", "-v", "--verbose", "--debug", "--no-wait",
    "--async", "--json", "--no-cli-pager", "--no-prompts", "--no-prompt", "--no-paginate",
    "--skip-final-snapshot",
];

/// CLIs whose verb of deletion takes the name of a whole place: `fly destroy shop`.
#[rustfmt::skip]
const NAMES_FIRST: [&str; 20] = [
    "fly", "flyctl", "heroku", "neonctl", "render", "kops", "eksctl", "wrangler", "eb", "sam",
    "copilot", "amplify", "vagrant", "multipass", "limactl", "colima", "lxc", "incus", "qm", "pct",
];

/// The words of a command line whose options are not all known.
struct CloudArgs<'a> {
    /// Words that are not the value of an option.
    sure: Vec<&'a str>,
    /// Words that may be one.
    unsure: Vec<&'a str>,
}

impl<'a> CloudArgs<'a> {
    fn of(args: &Args<'a>) -> Self {
        let mut words = Self {
            sure: Vec::new(),
            unsure: Vec::new(),
        };
        let mut before = "";
        for field in args.iter() {
            let text = field.raw();
            let option = text.len() > 1 && text.starts_with('-');
            let free = !before.starts_with('-') || before.contains('=') || FLAGS.contains(&before);
            match (option, free) {
                (true, _) => {}
                (false, true) => words.sure.push(text),
                (false, false) if VALUED.contains(&before) => {}
                (false, false) => words.unsure.push(text),
            }
            before = if option { text } else { "" };
        }
        words
    }
}

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "terraform" | "tofu" | "terragrunt" | "terramate" => {
            infrastructure::terraform(walker, args)
        }
        "pulumi" | "cdk" | "cdktf" | "sst" | "ansible-galaxy" | "crossplane" | "nuke"
        | "aws-nuke" | "cloud-nuke" => infrastructure::stack(walker, args),
        program if CLIS.contains(&program) => cli(walker, args),
        _ if crate::wrapper::unlisted(walker, args) => {}
        _ => super::unlisted::run(walker, args),
    }
}

pub(super) fn is_test(args: &Args<'_>) -> bool {
    let named = args.values(&[
        "--profile",
        "--project",
        "--env",
        "--environment",
        "--stack",
        "-s",
        "--context",
        "--workspace",
        "-var-file",
    ]);
    named.iter().any(|field| is_test_name(field.raw()))
}

/// The verb that deletes, and the noun that is one word with it. It stands among the first words, alone or in
/// one: `delete`, `delete-stack`, `apps:destroy`, `batch-delete-image`, `service-instance-delete`.
fn verb<'w>(words: &[&'w str]) -> Option<(usize, &'w str)> {
    words.iter().take(4).enumerate().find_map(|(at, word)| {
        let first = word.split([':', '-', '_']).next().unwrap_or(word);
        let last = word.rsplit(':').next().unwrap_or(word);
        if VERBS.contains(word) || VERBS.contains(&last) && word.contains(':') {
            Some((at, ""))
        } else if VERBS.contains(&first) && (word.contains('-') || at == 0 && word.contains('_')) {
            Some((at, word.get(first.len() + 1..).unwrap_or_default()))
        } else {
            within(word).map(|noun| (at, noun))
        }
    })
}

/// The noun of a word that has its verb in the middle or at its end.
fn within(word: &str) -> Option<&str> {
    if let Some(key) = word.strip_prefix("schedule-") {
        return key.strip_suffix("-deletion");
    }
    for before in ["batch-", "bulk-", "force-"] {
        for verb in ["delete-", "terminate-"] {
            let rest = word.strip_prefix(before);
            if let Some(noun) = rest.and_then(|rest| rest.strip_prefix(verb)) {
                return Some(noun);
            }
        }
    }
    let noun = ["-delete", "-destroy", "-terminate"]
        .iter()
        .find_map(|verb| word.strip_suffix(verb))?;
    let first = noun.split('-').next().unwrap_or(noun);
    (!OTHER_VERBS.contains(&first)).then_some(noun)
}

fn cli(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.is_dry_run() {
        return;
    }
    let CloudArgs {
        sure: words,
        unsure,
    } = CloudArgs::of(args);
    if bucket::run(walker, args) || hoster::run(walker, args, &words) {
        return;
    }
    let found = verb(&words);
    let Some((at, after)) = found else {
        return;
    };
    let before = words.get(..at).unwrap_or_default();
    if before.iter().skip(1).any(|word| OTHER_VERBS.contains(word)) {
        return;
    }
    let word = words.get(at).copied().unwrap_or_default();
    let names = words.get(at + 1..).unwrap_or_default();
    let judged = judge(args.program, word, before, after, names);
    // `down`, `reset`, `release` and the like are verbs of deletion only for something that holds data.
    let weak = matches!(
        word,
        "down" | "reset" | "release" | "forget" | "prune" | "remove" | "rm"
    );
    if weak && judged.reach != Reach::Sweeping && before.is_empty() {
        return;
    }
    let name = name(args, names, &unsure);
    let scratch = is_test(args)
        || !name.is_empty() && name.split(' ').all(is_test_name)
        || matches!(args.program, "kind" | "minikube" | "k3d");
    let reach = if scratch {
        Reach::Scratch
    } else {
        judged.reach
    };
    let by = by(args.program, before, word);
    let prefix = word.split_once(':').map_or("", |(prefix, _)| prefix);
    let kinds = [after, prefix, before.last().copied().unwrap_or_default()];
    let kind = kinds.into_iter().find(|kind| !kind.is_empty());
    let target = format!("{} {name}", kind.unwrap_or_default());
    let target = target.trim();
    if judged.replaceable {
        add_replaceable(walker, Verb::Destroy, reach, &by, target);
    } else {
        add(walker, Verb::Destroy, reach, &by, target);
    }
}

/// Hosters of databases that keep data in branches.
fn holds_branches(program: &str) -> bool {
    matches!(program, "neon" | "neonctl" | "pscale" | "xata")
}

fn by(program: &str, before: &[&str], word: &str) -> String {
    let mut by = program.to_owned();
    for part in before.iter().copied().chain([word]) {
        by.push(' ');
        by.push_str(part);
    }
    by
}

/// What is deleted: names, else the value of the option that names it.
fn name(args: &Args<'_>, names: &[&str], unsure: &[&str]) -> String {
    #[rustfmt::skip]
  const NAMES: [&str; 20] = [
      "--name", "-n", "--bucket", "--stack-name", "--db-instance-identifier",
      "--db-cluster-identifier", "--instance-ids", "--volume-id", "--cluster-name",
      "--table-name", "--repository-name", "--function-name", "--snapshot-id", "--cluster",
      "--app", "-a", "--resource-group", "-g", "--service", "--database",
  ];
    let named = || NAMES.iter().find_map(|name| args.value(&[name]));
    // AWS takes several values behind one option.
    // The thing itself before what it is in.
    let own = |text: &str| NAMES.contains(&text) && text != "--cluster";
    let find = |wanted: &dyn Fn(&str) -> bool| args.iter().position(|field| wanted(field.raw()));
    if args.program == "aws"
        && let Some(at) = find(&own).or_else(|| find(&|text| text == "--cluster"))
    {
        let values = args.skip(at + 1).iter();
        let values = values.take_while(|field| !field.raw().starts_with('-'));
        return values.map(Field::shown).collect::<Vec<_>>().join(" ");
    }
    // `eksctl delete cluster --name prod`: the word after the verb is a kind.
    let kind = names.len() == 1 && args.fields.get(1).map(Field::raw) == names.first().copied();
    if let (true, Some(field)) = (kind, args.value(&["--name"])) {
        format!("{} {}", names.join(" "), field.shown())
    } else if !names.is_empty() {
        names.join(" ")
    } else if let Some(field) = named() {
        field.shown()
    } else {
        unsure.join(" ")
    }
}

/// The noun is the word that holds the verb, the word before it or, for `rm app`, the word after it.
fn judge(program: &str, word: &str, before: &[&str], after: &str, names: &[&str]) -> NounReach {
    let prefix = word
        .rsplit_once(':')
        .map(|(prefix, _)| prefix)
        .unwrap_or_default();
    let candidates = [after, prefix, before.last().copied().unwrap_or_default()];
    let noun = candidates.into_iter().find(|noun| !noun.is_empty());
    match (noun, names.first()) {
        (None, Some(name)) if NAMES_FIRST.contains(&program) => {
            let judged = noun::judge(name);
            let whole = names.len() == 1;
            if whole {
                NounReach {
                    reach: Reach::Sweeping,
                    replaceable: false,
                }
            } else {
                judged
            }
        }
        (None, Some(name)) => noun::judge(name),
        (None, None) => NounReach {
            reach: Reach::Sweeping,
            replaceable: false,
        },
        (Some(noun), _) => judge_noun(program, noun, before, after, names),
    }
}

fn judge_noun(
    program: &str,
    noun: &str,
    before: &[&str],
    after: &str,
    names: &[&str],
) -> NounReach {
    let judged = noun::judge(noun);
    // `oci db system terminate`: two words are one thing.
    let two = before.last_chunk::<2>().filter(|_| after.is_empty());
    match two.map(|[first, second]| noun::judge(&format!("{first}{second}"))) {
        Some(both) if judged.reach == Reach::Shared && !judged.replaceable => both,
        // A branch of these is a database of its own.
        _ if holds_branches(program)
            && noun.starts_with("branch")
            && names
                .iter()
                .any(|name| matches!(*name, "main" | "master" | "production")) =>
        {
            NounReach {
                reach: Reach::Sweeping,
                replaceable: false,
            }
        }
        _ => judged,
    }
}

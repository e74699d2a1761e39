//! What a command of a cloud, a cluster or an API is about: by that a deletion is sweeping or not.

use sprag_core::Reach;

/// Things that hold data of their own: to delete one takes a whole place.
#[rustfmt::skip]
const SWEEPING: [&str; 78] = [
    "instance", "cluster", "database", "db", "bucket", "volume", "namespace", "ns", "pv", "pvc",
    "persistentvolume", "persistentvolumeclaim", "stack", "group", "release", "repository",
    "repo", "backup", "snapshot", "dbinstance", "dbcluster", "server", "vm", "machine", "droplet",
    "disk", "filesystem", "vault", "project", "app", "application", "environment", "dataset",
    "keyspace", "table", "storage", "statefulset", "sts", "node", "domain", "zone", "datastore",
    "vhost", "index", "collection", "container-registry", "organization", "org", "account",
    "workspace", "recoverypoint", "postgres", "redis", "share", "d1", "r2", "crd",
    "customresourcedefinition", "linode", "service-account-key-ring", "resourcegroup",
    "storageaccount", "keyvault", "aks", "eks", "gke", "cosmosdb", "elasticache", "opensearch",
    "spanner", "bigtable", "nodegroup", "dbsystem", "pg", "webapp",
    "functionapp", "autonomousdatabase", "replicationgroup",
];

/// Things that are made again by what runs them.
#[rustfmt::skip]
const REPLACEABLE: [&str; 33] = [
    "pod", "po", "container", "image", "job", "cronjob", "replicaset", "rs", "event", "branch",
    "tag", "run", "cache", "task", "alarm", "log", "rule", "endpoint", "label", "comment",
    "session", "preview", "invocation", "artifact", "configmap", "cm", "ingress", "service",
    "svc", "deployment", "deploy", "hook", "box",
];

/// Words that name a whole place only if nothing stands before them.
const VAGUE: [&str; 5] = ["group", "table", "account", "node", "service"];

/// How a deletion of `noun` is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NounReach {
    pub(super) reach: Reach,
    pub(super) replaceable: bool,
}

/// Judges a noun in the spelling of any CLI or API: `db-instance`, `DBInstances`, `volumes`.
pub(super) fn judge(noun: &str) -> NounReach {
    let lower = noun.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(['-', '_', '.', ':'])
        .filter(|word| !word.is_empty())
        .collect();
    let words = match words.split_last() {
        Some((last, rest)) if is_version(last) => rest.to_vec(),
        _ => words,
    };
    let last = words.last().copied().unwrap_or_default();
    let joined = words.concat();
    // A log group or a route table is not what its last word says.
    let last = if words.len() > 1 && VAGUE.contains(&singular(last)) {
        ""
    } else {
        last
    };
    let known = |list: &[&str]| {
        [last, joined.as_str(), lower.as_str()]
            .iter()
            .any(|word| list.contains(word) || list.contains(&singular(word)))
    };
    if known(&REPLACEABLE) {
        NounReach {
            reach: Reach::Shared,
            replaceable: true,
        }
    } else if known(&SWEEPING) {
        NounReach {
            reach: Reach::Sweeping,
            replaceable: false,
        }
    } else {
        NounReach {
            reach: Reach::Shared,
            replaceable: false,
        }
    }
}

/// `v2`.
pub(super) fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

pub(super) fn singular(word: &str) -> &str {
    if let Some(stem) = word.strip_suffix("xes") {
        return word.get(..stem.len() + 1).unwrap_or(word);
    }
    match word.strip_suffix('s') {
        Some("statu" | "dn" | "redi" | "postgre" | "k8" | "aw") | None => word,
        Some(stem) => stem,
    }
}

/// The words of a camelCase or snake_case name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for character in name.chars() {
        if !character.is_ascii_alphanumeric() {
            lower = false;
            words.push(String::new());
            continue;
        }
        if character.is_ascii_uppercase() && lower || words.is_empty() {
            words.push(String::new());
        }
        lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        if let Some(last) = words.last_mut() {
            last.push(character.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

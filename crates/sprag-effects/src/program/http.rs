//! HTTP: `DELETE` requests and GraphQL mutations that delete.

use sprag_core::{Reach, Verb};

use super::noun::{self, NounReach};
use super::{add, add_replaceable};
use crate::args::Args;
use crate::expand::Field;
use crate::scratch::is_test_name;
use crate::walk::Walker;

/// Ports of local services that hold data; anything else on this machine is a program under development.
#[rustfmt::skip]
const DATA_PORTS: [&str; 9] = [
    ":9200", ":9201", ":6333", ":8983", ":5984", ":8123", ":8500", ":2379", ":7700",
];

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "curl" => curl(walker, args),
        "wget" => {
            let method = args
                .value(&["--method"])
                .map(|field| field.raw().to_ascii_uppercase());
            if method.as_deref() == Some("DELETE") {
                each_url(walker, args, "wget");
            }
            for body in args.values(&["--post-data", "--body-data"]) {
                graphql(walker, "wget", body.raw());
            }
        }
        _ => {
            let words = args.words(&["-a", "--auth", "--session"]);
            let deletes = words
                .first()
                .is_some_and(|word| word.eq_ignore_ascii_case("delete"));
            if deletes && !args.long("--offline") {
                if let Some(url) = words.get(1) {
                    delete(walker, args.program, url);
                }
            } else {
                for word in words.iter().skip(1) {
                    if let Some(query) = word.strip_prefix("query=") {
                        graphql(walker, args.program, query);
                    }
                }
            }
        }
    }
}

/// Options of `curl` that take a value.
#[rustfmt::skip]
const VALUED: [&str; 50] = [
    "-X", "--request", "-H", "--header", "-d", "--data", "--data-raw", "--data-binary", "-o",
    "--output", "-u", "--user", "-w", "--write-out", "-m", "--max-time", "--connect-timeout",
    "-b", "--cookie", "-c", "--cookie-jar", "-A", "-e", "--cacert", "--cert", "--key", "--json",
    "--retry", "--unix-socket", "--abstract-unix-socket", "-x", "--proxy", "--resolve",
    "--interface", "--limit-rate", "--oauth2-bearer", "--retry-delay", "--retry-max-time",
    "--url-query", "-T", "--upload-file", "-F", "--form", "--data-urlencode", "--data-ascii", "-K",
    "--config", "-r", "--range", "--referer",
];

fn curl(walker: &mut Walker<'_>, args: &Args<'_>) {
    let method = args.values_among(&["-X", "--request"], &VALUED);
    let clustered = |field: &Field| {
        let text = field.raw();
        !text.starts_with("--") && text.starts_with('-') && text.ends_with("XDELETE")
    };
    let deletes = |field: &Field| field.raw().eq_ignore_ascii_case("delete");
    let overrides = args.values_among(&["-H", "--header"], &VALUED);
    let overridden = overrides.iter().any(|field| is_override(field.raw()));
    let socket = args.value(&["--unix-socket"]);
    if method.iter().any(deletes) || args.iter().any(clustered) || overridden {
        match socket {
            Some(socket) => each_of_socket(walker, args, socket.raw()),
            None => each_url(walker, args, "curl"),
        }
    } else {
        picked_by_query(walker, args);
    }
    for body in args.values(&[
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-ascii",
        "--json",
    ]) {
        graphql(walker, "curl", body.raw());
    }
    let reads_input = args
        .values(&["-d", "--data", "--data-raw", "--data-binary", "--json"])
        .iter()
        .any(|body| body.raw() == "@-");
    if reads_input && let Some(input) = walker.input.take() {
        graphql(walker, "curl", input.raw());
    }
}

/// `X-HTTP-Method-Override: DELETE`.
fn is_override(header: &str) -> bool {
    header.split_once(':').is_some_and(|(name, value)| {
        let name = name.trim().to_ascii_lowercase();
        value.trim().eq_ignore_ascii_case("delete")
            && matches!(
                name.as_str(),
                "x-http-method-override" | "x-http-method" | "x-method-override"
            )
    })
}

/// What a daemon behind a socket is asked to delete: it has things of its own, whatever its address says.
fn each_of_socket(walker: &mut Walker<'_>, args: &Args<'_>, socket: &str) {
    let by = format!("curl {}", socket.rsplit('/').next().unwrap_or(socket));
    for url in urls(args) {
        let path = url
            .raw()
            .split_once("://")
            .map_or(url.raw(), |(_, rest)| rest);
        let path = path.split_once('/').map_or("", |(_, path)| path);
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let judged = collection(&by, path, false);
        note(walker, judged, &by, path);
    }
}

/// `POST /orders/_delete_by_query`: with a query that picks nothing, all documents of an index.
fn picked_by_query(walker: &mut Walker<'_>, args: &Args<'_>) {
    const WORD: &str = "/_delete_by_query";
    for url in urls(args) {
        let plain = url.raw().split(['?', '#']).next().unwrap_or_default();
        let Some(index) = plain.strip_suffix(WORD) else {
            continue;
        };
        let index = index.rsplit('/').next().unwrap_or(index);
        let bodies = args.values(&["-d", "--data", "--data-raw", "--data-binary", "--json"]);
        let picks = !url.raw().contains('?')
            && bodies
                .iter()
                .map(Field::raw)
                // A file is not read.
                .any(|text| {
                    text.starts_with('@') || text.contains("query") && !text.contains("match_all")
                });
        let judged = NounReach {
            reach: match picks {
                _ if is_test_name(index) => Reach::Scratch,
                true => Reach::Shared,
                false => Reach::Sweeping,
            },
            replaceable: picks,
        };
        let what = if picks { "documents" } else { "all documents" };
        note(
            walker,
            judged,
            "curl _delete_by_query",
            &format!("{what} of {index}"),
        );
    }
}

fn note(walker: &mut Walker<'_>, judged: NounReach, by: &str, target: &str) {
    if judged.replaceable {
        add_replaceable(walker, Verb::Delete, judged.reach, by, target);
    } else {
        add(walker, Verb::Delete, judged.reach, by, target);
    }
}

fn urls(args: &Args<'_>) -> Vec<Field> {
    let mut urls: Vec<Field> = args.operands(&VALUED).into_iter().cloned().collect();
    urls.extend(args.values(&["--url"]));
    urls.retain(|url| url.raw().contains(['/', '.', ':']) || url.raw().starts_with("localhost"));
    urls
}

fn each_url(walker: &mut Walker<'_>, args: &Args<'_>, by: &str) {
    for url in urls(args) {
        delete(walker, by, url.raw());
    }
}

/// A `DELETE` of `url`, judged by the collection in which the thing stands.
pub(super) fn delete(walker: &mut Walker<'_>, by: &str, url: &str) {
    let by = format!("{by} DELETE");
    let shown = address(url);
    let plain = url.split(['?', '#']).next().unwrap_or(url);
    let (host, path) = match plain.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None if by.starts_with("gh") || plain.starts_with('/') => ("", plain),
        None => plain.split_once('/').unwrap_or((plain, "")),
    };
    let local = is_local(host);
    let data = DATA_PORTS.iter().any(|port| host.ends_with(port));
    if local && !data {
        add(walker, Verb::Delete, Reach::Workspace, &by, &shown);
        return;
    }
    let judged = collection(&by, path, local || data);
    note(walker, judged, &by, &shown);
}

/// The URL without credentials and query.
fn address(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or(url);
    let shown = match plain.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('@') {
            Some((_, host)) => format!("{scheme}://{host}"),
            None => plain.to_owned(),
        },
        None => plain.to_owned(),
    };
    crate::expand::show(&shown)
}

fn is_local(host: &str) -> bool {
    let name = host.split(':').next().unwrap_or(host);
    matches!(
        name,
        "localhost" | "127.0.0.1" | "0.0.0.0" | "[" | "host.docker.internal"
    ) || name.ends_with(".localhost")
        || name.ends_with(".test")
}

fn collection(by: &str, path: &str, local: bool) -> NounReach {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let sweeping = NounReach {
        reach: Reach::Sweeping,
        replaceable: false,
    };
    match parts.as_slice() {
        ["repos", _, _] if by.starts_with("gh") || !local => sweeping,
        ["orgs", _] | [.., "_all" | "*"] => sweeping,
        // One segment at a search engine is an index.
        [_] if local => sweeping,
        [.., collection, _] => noun::judge(collection),
        [last] => noun::judge(last),
        [] => NounReach {
            reach: Reach::Shared,
            replaceable: false,
        },
    }
}

/// A GraphQL text, alone or in JSON: mutations that delete.
pub(super) fn graphql(walker: &mut Walker<'_>, by: &str, body: &str) {
    if !body.contains("mutation") {
        return;
    }
    for (name, _) in crate::script::calls(
        &body
            .replace("\\n", " ")
            .replace("\\\"", " ")
            .replace(['"', '\'', '`'], " "),
    ) {
        let mut words = noun::words(&name);
        words.retain(|word| !noun::is_version(word));
        let verb = |word: &String| {
            matches!(
                word.as_str(),
                "delete" | "destroy" | "remove" | "terminate" | "purge" | "wipe" | "drop"
            )
        };
        let first = words.first().is_some_and(verb);
        let last = words.last().is_some_and(verb);
        if !(first || last) || words.len() < 2 {
            continue;
        }
        let noun = if last {
            words.get(words.len() - 2)
        } else {
            words.last()
        };
        let judged = noun::judge(noun.map_or("", String::as_str));
        note(walker, judged, &format!("{by} GraphQL"), &name);
    }
}

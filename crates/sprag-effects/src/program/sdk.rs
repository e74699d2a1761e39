//! Code that speaks to a service: HTTP clients, and the SDKs of clouds.

use sprag_core::{Reach, Verb};

use super::{add, http, noun, unless_test};
use crate::script::{first_string, strings};
use crate::walk::Walker;

/// Words of which one stands in code that uses the SDK of a cloud.
const CLOUDS: [&str; 6] = [
    "boto3",
    "botocore",
    "aws-sdk",
    "google.cloud",
    "google-cloud",
    "azure.",
];

/// Notes what the calls `calls` of the code `text` delete.
pub(super) fn run(walker: &mut Walker<'_>, by: &str, text: &str, calls: &[(String, String)]) {
    let cloud = CLOUDS.iter().any(|word| text.contains(word));
    for (call, arguments) in calls {
        let last = call.rsplit(['.', ':']).next().unwrap_or(call);
        let url = first_string(arguments).filter(|text| text.contains("://"));
        match url {
            Some(url) if last == "delete" || sends_delete(arguments) => {
                http::delete(walker, by, &url);
            }
            // `requests.request("DELETE", url)`
            None if last == "request" && first_string(arguments).is_some_and(is_delete) => {
                if let Some(url) = strings(arguments).iter().find(|text| text.contains("://")) {
                    http::delete(walker, by, url);
                }
            }
            None if cloud => sdk(walker, by, last, arguments),
            _ => {}
        }
    }
    // `boto3.resource("s3").Bucket("b").objects.all().delete()`
    if cloud && text.contains(".objects.all().delete()") {
        let bucket = calls
            .iter()
            .find(|(call, _)| call.ends_with("Bucket"))
            .and_then(|(_, arguments)| first_string(arguments))
            .unwrap_or_default();
        let reach = unless_test(&bucket, Reach::Sweeping);
        let target = format!("all in bucket {bucket}");
        add(walker, Verb::Delete, reach, by, target.trim_end());
    }
}

fn is_delete(method: String) -> bool {
    method.eq_ignore_ascii_case("delete")
}

/// `method: "DELETE"` or `method="DELETE"` among the arguments.
fn sends_delete(arguments: &str) -> bool {
    let after = |(at, word): (usize, &str)| arguments.get(at + word.len()..);
    let mut values = arguments.match_indices("method").filter_map(after);
    values.any(|rest| {
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        let value = rest.strip_prefix([':', '=']).and_then(first_string);
        let value = value.or_else(|| {
            let rest = rest.strip_prefix([':', '='])?;
            strings(rest)
                .into_iter()
                .next()
                .filter(|_| rest.trim_start().starts_with(['"', '\'']))
        });
        value.is_some_and(is_delete)
    })
}

/// `delete_db_instance(…)`, `terminateInstances(…)`: verb and noun in one name.
fn sdk(walker: &mut Walker<'_>, by: &str, call: &str, arguments: &str) {
    let words = noun::words(call);
    let Some((verb, rest)) = words.split_first() else {
        return;
    };
    if !matches!(verb.as_str(), "delete" | "terminate" | "destroy") || rest.is_empty() {
        return;
    }
    let kind = rest.join("-");
    let judged = noun::judge(&kind);
    let name = strings(arguments).into_iter().next().unwrap_or_default();
    let reach = unless_test(&name, judged.reach);
    let by = format!("{by} {call}");
    let target = format!("{kind} {name}");
    if judged.replaceable {
        super::add_replaceable(walker, Verb::Destroy, reach, &by, target.trim_end());
    } else {
        add(walker, Verb::Destroy, reach, &by, target.trim_end());
    }
}

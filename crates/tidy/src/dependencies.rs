//! Dependencies by what `cargo metadata` says: allowed licences, crates.io only, a version for each.
//!
//! `cargo deny` asks more, but takes minutes to build. This asks what must hold in every test; both
//! read the list of licences from `deny.toml`.

use serde_json::Value;

use crate::licence::is_allowed;
use crate::tree::Violation;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const WHERE: &str = "Cargo.toml";

/// What is wrong with the packages of `cargo metadata --format-version 1`.
#[must_use]
pub fn check(metadata: &str, deny_toml: &str) -> Vec<Violation> {
    let allowed = allowed_licences(deny_toml);
    if allowed.is_empty() {
        let advice = "`[licenses]` has no `allow = [\"…\"]`; list the allowed licences";
        return vec![Violation::new("deny.toml", 1, advice)];
    }
    let Ok(metadata) = serde_json::from_str::<Value>(metadata) else {
        return vec![Violation::new(
            WHERE,
            1,
            "`cargo metadata` answered no JSON; run it by hand",
        )];
    };
    packages(&metadata)
        .flat_map(|package| package_advice(package, &allowed))
        .map(|advice| Violation::new(WHERE, 1, advice))
        .collect()
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    list(metadata, "packages")
}

fn package_advice(package: &Value, allowed: &[String]) -> Vec<String> {
    let name = format!("{} {}", text(package, "name"), text(package, "version"));
    let licence = text(package, "license");
    let mut found = Vec::new();
    if !is_allowed(licence, allowed) {
        found.push(format!(
            "{name} is under `{licence}`, which deny.toml does not allow; use another crate"
        ));
    }
    match package.get("source").and_then(Value::as_str) {
        Some(CRATES_IO) => {}
        Some(source) => found.push(format!(
            "{name} comes from {source}; use a release on crates.io"
        )),
        // Without a source it is one of ours: here it stands what we ask of others.
        None => found.extend(wildcards(package, &name)),
    }
    found
}

fn wildcards<'a>(package: &'a Value, name: &'a str) -> impl Iterator<Item = String> + 'a {
    list(package, "dependencies")
        .filter(|dependency| {
            text(dependency, "req") == "*" && !text(dependency, "source").is_empty()
        })
        .map(move |dependency| {
            let wanted = text(dependency, "name");
            format!("{name} wants any version of {wanted}; name the one that was tried")
        })
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The strings of `allow` in the section `[licenses]`.
fn allowed_licences(deny_toml: &str) -> Vec<String> {
    let lines = deny_toml
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let section = lines
        .skip_while(|line| line.trim() != "[licenses]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .collect::<String>();
    let list = section
        .split_once("allow = [")
        .and_then(|(_, rest)| rest.split(']').next())
        .unwrap_or_default();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::told;

    const DENY: &str = "[advisories]\nallow = [\"X\"]\n[licenses]\nallow = [\n  \"MIT\", # why\n  \"ISC\",\n]\n[bans]\n";

    fn found(package: Value) -> Vec<String> {
        let metadata = json!({ "packages": [package] }).to_string();
        told(&check(&metadata, DENY))
    }

    #[test]
    fn the_list_of_licences_is_read_from_its_own_section() {
        assert_eq!(allowed_licences(DENY), ["MIT", "ISC"]);
        assert_eq!(
            check("{}", "[licenses]\n[bans]\nallow = [\"MIT\"]\n")[0].to_string(),
            "deny.toml:1: `[licenses]` has no `allow = [\"…\"]`; list the allowed licences"
        );
    }

    #[test]
    fn a_good_package_is_fine() {
        let package = json!({"name": "a", "version": "1.0.0", "license": "MIT OR X", "source": CRATES_IO,
            "dependencies": [{"name": "b", "req": "*", "source": CRATES_IO}]});
        assert!(found(package).is_empty());
    }

    #[test]
    fn a_licence_that_is_not_on_the_list_is_found_and_so_is_none() {
        let package =
            json!({"name": "a", "version": "1.0.0", "license": "AGPL-3.0", "source": CRATES_IO});
        assert_eq!(
            found(package),
            [
                "Cargo.toml:1: a 1.0.0 is under `AGPL-3.0`, which deny.toml does not allow; use another crate"
            ]
        );
        let package =
            json!({"name": "a", "version": "1.0.0", "license": null, "source": CRATES_IO});
        assert_eq!(found(package).len(), 1);
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let package = json!({"name": "a", "version": "1.0.0", "license": "MIT", "source": "git+https://example.org/a"});
        assert_eq!(
            found(package),
            [
                "Cargo.toml:1: a 1.0.0 comes from git+https://example.org/a; use a release on crates.io"
            ]
        );
    }

    #[test]
    fn a_dependency_of_ours_on_any_version_is_found_and_a_path_is_fine() {
        let package = json!({"name": "ours", "version": "0.1.0", "license": "MIT", "source": null, "dependencies": [
            {"name": "b", "req": "*", "source": CRATES_IO}, {"name": "c", "req": "*", "source": null}]});
        assert_eq!(
            found(package),
            ["Cargo.toml:1: ours 0.1.0 wants any version of b; name the one that was tried"]
        );
    }

    #[test]
    fn an_answer_that_is_no_json_is_found() {
        assert_eq!(check("error", DENY).len(), 1);
    }
}

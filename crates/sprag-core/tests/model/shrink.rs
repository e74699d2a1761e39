//! Makes a divergence readable: drops events, then parts of the policy, while it stays one.

use serde_json::{Value, json};
use sprag_core::Observation;

use super::engine::{Answer, CasePolicy, Start, answers, divergence};

/// A policy and a history on which two engines disagree.
pub(crate) struct Case {
    pub(crate) policy: Value,
    pub(crate) events: Vec<Observation>,
}

impl Case {
    /// Cuts what comes after the divergence, if there is one.
    fn cut(mut self, engines: (Start, Start)) -> Option<Self> {
        let policy = CasePolicy::new(self.policy.clone());
        let at = divergence(engines, &policy, &self.events)?;
        self.events.truncate(at + 1);
        Some(self)
    }

    /// The smallest case that dropping finds.
    pub(crate) fn shrink(self, engines: (Start, Start)) -> Self {
        let mut best = self;
        loop {
            let smaller = without_events(&best)
                .chain(without_keys(&best))
                .find_map(|case| case.cut(engines));
            match smaller {
                Some(smaller) => best = smaller,
                None => return best,
            }
        }
    }

    /// The policy, then each event with what both say of it.
    pub(crate) fn tell(&self, (one, other): (Start, Start)) -> String {
        let policy = CasePolicy::new(self.policy.clone());
        let mut text = format!("policy {}\n", self.policy);
        let both = answers(one, &policy, &self.events).into_iter().zip(answers(
            other,
            &policy,
            &self.events,
        ));
        for (event, (one, other)) in self.events.iter().zip(both) {
            text += &serde_json::to_string(event).expect("plain data");
            text += &match one == other {
                true => format!("\n    both   {}\n", line(&one)),
                false => format!("\n    model  {}\n    engine {}\n", line(&one), line(&other)),
            };
        }
        text
    }
}

fn line(answer: &Answer) -> Value {
    match answer {
        Ok(verdict) => json!(verdict),
        Err(error) => json!({"error": format!("{error:?}")}),
    }
}

/// The case without each run of events, long runs first. The last event is where it diverges.
fn without_events(case: &Case) -> impl Iterator<Item = Case> {
    let length = case.events.len().saturating_sub(1);
    let sizes = std::iter::successors(Some(length), |size| Some(size / 2));
    sizes.take_while(|size| *size > 0).flat_map(move |size| {
        (0..length).step_by(size).map(move |start| {
            let mut events = case.events.clone();
            events.drain(start..(start + size).min(length));
            Case {
                policy: case.policy.clone(),
                events,
            }
        })
    })
}

/// The case without each override, section and key of its policy.
fn without_keys(case: &Case) -> impl Iterator<Item = Case> {
    paths(&case.policy).into_iter().map(|path| {
        let mut policy = case.policy.clone();
        let (parent, key) = path.rsplit_once('/').expect("a path starts with a slash");
        match policy.pointer_mut(parent) {
            Some(Value::Object(keys)) => drop(keys.remove(&unescaped(key))),
            Some(Value::Array(items)) => drop(items.remove(key.parse().expect("an index"))),
            _ => {}
        }
        Case {
            policy,
            events: case.events.clone(),
        }
    })
}

/// The places of what may be left out, as JSON pointers.
fn paths(policy: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    for (section, content) in policy.as_object().into_iter().flatten() {
        paths.push(format!("/{section}"));
        paths.extend(inner(&format!("/{section}"), content));
        for (at, one) in content.as_array().into_iter().flatten().enumerate() {
            paths.push(format!("/{section}/{at}"));
            for (key, content) in one.as_object().into_iter().flatten() {
                if content.is_object() {
                    paths.push(format!("/{section}/{at}/{key}"));
                }
                paths.extend(inner(&format!("/{section}/{at}/{key}"), content));
            }
        }
    }
    // The model knows one classifier, which is not the default, and else leaves these rules out.
    paths.retain(|path| !path.contains("progress") && path != "/rules");
    paths
}

fn inner(parent: &str, content: &Value) -> Vec<String> {
    let keys = content.as_object().into_iter().flatten();
    keys.map(|(key, _)| format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1")))
        .collect()
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}
